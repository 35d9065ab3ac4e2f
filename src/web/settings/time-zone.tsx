/** The part of the settings page to set the time zone of the account. */
import type { VNode } from 'preact';
import { zoneChange } from '../../accounts/zone-tool.ts';
import { readFields } from '../../fields/read.ts';
import type { Route } from '../../http/route/route.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Form, SubmitButton } from '../ui.tsx';

const FORM = 'timezone';
const PATH = '/settings';

interface TimeZoneProps {
  readonly visit: MemberVisit;
  readonly capabilities: Pick<Capabilities, 'timeZones'>;
  readonly problem?: Problem | undefined;
}

export function TimeZone({ visit, capabilities, problem }: TimeZoneProps): VNode {
  const chosen = capabilities.timeZones.chosen(visit.accountId);
  const own = capabilities.timeZones.of(visit.accountId).name;
  return (
    <section class="panel" aria-labelledby="timezone">
      <h2 id="timezone">Time zone</h2>
      <p class="lead">
        Decides which tasks are due today or overdue, for agents and on the board.
        {chosen === null ? ` Not set: the hub's default, ${own}, applies.` : ''}
      </p>
      <Form csrf={visit.csrf} action={`${PATH}/timezone`} class="inline-form">
        <FormErrors form={FORM} problem={problem} shown={['timezone']} />
        <Field
          form={FORM}
          name="timezone"
          label="IANA time zone"
          hint="Such as Asia/Seoul. Leave it empty for the hub's default."
          required={false}
          value={chosen ?? (visit.isZoneTold ? visit.zone.name : '')}
          problem={problem}
        />
        <SubmitButton>Save time zone</SubmitButton>
      </Form>
    </section>
  );
}

export interface TimeZoneRouteOptions extends Pick<Capabilities, 'timeZones'> {
  readonly pages: Pages;
  readonly view: (visit: MemberVisit, problem: Problem) => View;
}

export function timeZoneRoute({ pages, timeZones, view }: TimeZoneRouteOptions): Route {
  return pages.memberForm(`${PATH}/timezone`, async (visit, form) => {
    const given = form.get('timezone')?.trim() ?? '';
    const tried = await problemOf(FORM, { timezone: given }, () =>
      timeZones.set(visit.accountId, readFields(zoneChange, { timezone: given === '' ? null : given }).timezone),
    );
    if (!tried.ok) return pages.show(visit, view(visit, tried.problem));
    return pages.go(visit, PATH, { text: `The time zone is ${tried.value.name}.` });
  });
}
