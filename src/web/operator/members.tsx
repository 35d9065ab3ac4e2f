/** The members that share the log of a hub, on the operator's page, and the planned change from one to another. */
import type { VNode } from 'preact';
import { saidOfTrouble } from '../../common/fault.ts';
import type { MemberReport } from '../../http/route/health.ts';
import { countWithNoun } from '../../text/count.ts';
import { Confirm, Fact, Form, Given, SubmitButton } from '../ui.tsx';

interface MembersProps {
  readonly csrf: string;
  readonly path: string;
  readonly report: MemberReport;
}

export function MemberRows({ csrf, path, report }: MembersProps): VNode {
  const others = report.members.filter((name) => name !== report.name);
  return (
    <section class="panel" aria-labelledby="members">
      <h2 id="members">Members</h2>
      <p class="lead">Machines that share the log of this hub. One serves, and the others follow it.</p>
      <dl class="facts-list">
        <Fact name="Serves">
          <Given>{report.name}</Given>
        </Fact>
        <Fact name="State">{report.message}</Fact>
        <Fact name="Newest record">{String(report.position)}</Fact>
      </dl>
      {Object.entries(report.set_aside_by).map(([name, files]) => (
        <p key={name} class="notice bad" role="alert">
          <Given>{name}</Given> has {countWithNoun(files, 'file')} of answered writes that the log never had, in{' '}
          <code>set-aside</code> of its data folder. Read what is there, enter again what is missed, then remove it.
        </p>
      ))}
      {others.length === 0 ? (
        <p>
          No other member has joined. Start <code>cairn serve</code> with the same <code>CAIRN_LOG</code> on another
          machine.
        </p>
      ) : (
        <ul class="rows">
          {others.map((name) => (
            <li key={name} class="row">
              <div class="row-main">
                <Given>{name}</Given> {report.troubles[name] && saidOfTrouble(report.troubles[name])}
              </div>
              <Confirm label="Let it serve…" of={name} danger={false}>
                <p>
                  This member stops serving, and <Given>{name}</Given> takes over. No write is lost. If it does not run,
                  the hub is down until this member takes the log back.
                </p>
                <Form csrf={csrf} action={`${path}/members/hand-over`}>
                  <SubmitButton name="to" value={name}>
                    Hand over to {name}
                  </SubmitButton>
                </Form>
              </Confirm>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
