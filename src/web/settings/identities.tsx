/** The part of the settings page to link identities of the identity provider. */
import type { VNode } from 'preact';
import type { Capabilities } from '../capabilities.ts';
import { FormErrors, type Problem, TextArea } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { Confirm, Form, Given, Moment, SubmitButton } from '../ui.tsx';

interface LinkedIdentitiesProps {
  readonly visit: MemberVisit;
  readonly capabilities: Pick<Capabilities, 'identities'>;
  readonly problem?: Problem | undefined;
}

/** Renders nothing without a provider, unless identities of an earlier one are still linked. */
export function LinkedIdentities({ visit, capabilities, problem }: LinkedIdentitiesProps): VNode | null {
  const { issuer } = capabilities.identities;
  const linked = capabilities.identities.list(visit.accountId);
  const form = 'identity';
  if (issuer === undefined && linked.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="identities">
      <h2 id="identities">Identity provider</h2>
      <p class="lead">Agents and tools can use tokens of a linked identity like a key.</p>
      <ul class="rows">
        {linked.map(({ identity_id: id, label, subject, issuer: of, linked_at: at }) => (
          <li key={id} class="row">
            <div class="row-main">
              <strong>
                <Given>{label ?? subject}</Given>
              </strong>
              <p class="meta">
                at <Given>{of}</Given> · linked <Moment at={at} zone={visit.zone} />
                {of === issuer ? null : ' · this hub no longer uses that provider'}
              </p>
            </div>
            <Confirm label="Unlink…" of={label ?? subject}>
              <p>Tokens of this identity stop working here.</p>
              <Form csrf={visit.csrf} action={`/settings/identities/${id}/unlink`}>
                <SubmitButton look="danger">Unlink this identity</SubmitButton>
              </Form>
            </Confirm>
          </li>
        ))}
      </ul>
      {issuer === undefined ? null : (
        <Form csrf={visit.csrf} action="/settings/identities">
          <FormErrors form={form} problem={problem} shown={['token']} />
          <TextArea
            form={form}
            name="token"
            label={`A token of ${issuer}`}
            hint="A valid token issued for this hub. It proves that the identity is yours and is not stored."
            rows={3}
            class="code"
            value=""
            problem={problem}
          />
          <div>
            <SubmitButton>Link this identity</SubmitButton>
          </div>
        </Form>
      )}
    </section>
  );
}
