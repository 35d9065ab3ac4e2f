/** The settings page: the credentials of the account, and how to revoke them. */

import type { VNode } from 'preact';
import type { KeySummary } from '../../accounts/service.ts';
import type { SetupHub } from '../../accounts/setup-guide.ts';
import type { Capabilities } from '../capabilities.ts';
import { AccountName, Field, FormErrors, type Problem } from '../fields.tsx';
import { ConnectAgent } from '../home/connect.tsx';
import type { MemberVisit, View } from '../pages.ts';
import { Confirm, Empty, Form, Given, Moment, SubmitButton } from '../ui.tsx';
import { browserName } from '../visit.ts';
import type { ZoneFormat } from '../zone-format.ts';
import { ConnectedApps, Devices, Tokens } from './devices.tsx';
import { SecurityEvents } from './events.tsx';
import { ExportData } from './export.tsx';
import { LinkedIdentities } from './identities.tsx';
import { SecondFactor } from './second-factor.tsx';
import { TimeZone } from './time-zone.tsx';
import { WebhookList } from './webhooks.tsx';

/** What the page shows. */
export type SettingsCapabilities = Pick<
  Capabilities,
  | 'accounts'
  | 'credentials'
  | 'sessions'
  | 'audit'
  | 'secondFactors'
  | 'signIns'
  | 'tokens'
  | 'identities'
  | 'timeZones'
  | 'webhooks'
>;

export interface SettingsProps {
  readonly visit: MemberVisit;
  readonly capabilities: SettingsCapabilities;
  readonly problem?: Problem | undefined;
  readonly hub: SetupHub;
  /** An MCP key made just now. */
  readonly freshKey: string | undefined;
}

export function settingsView(props: SettingsProps): View {
  const { visit, capabilities, problem, hub, freshKey } = props;
  // Newest first, so that a key made just now is at the top.
  const keys = capabilities.accounts.listKeys(visit.accountId).sort((a, b) => b.created_at.localeCompare(a.created_at));
  // The key of a device is a part of the device's row.
  const ofDevices = new Set(capabilities.signIns.list(visit.accountId).map(({ key_id: id }) => id));
  return {
    title: 'Settings',
    section: 'settings',
    problem,
    // A renewed page has no fresh key, and the address of a form that came back has no page.
    renews: problem === undefined && freshKey === undefined,
    body: (
      <>
        <h1>Settings</h1>
        {visit.isOperator ? (
          <p class="lead">
            Who has an account on this hub, and what each uses: <a href="/accounts">Accounts</a>.
          </p>
        ) : null}
        <OnThisPage />
        {freshKey === undefined ? null : <ConnectAgent hub={hub} freshKey={freshKey} />}
        <McpKeys {...props} keys={keys.filter(({ kind, key_id: id }) => kind === 'mcp' && !ofDevices.has(id))} />
        <AccountKey {...props} current={keys.find((key) => key.kind === 'account' && key.revoked_at === null)} />
        <ConnectedApps {...props} />
        <Devices {...props} />
        <Tokens {...props} />
        <WebhookList {...props} />
        <LinkedIdentities {...props} />
        <TimeZone {...props} />
        <Password {...props} />
        <SecondFactor visit={visit} secondFactors={capabilities.secondFactors} />
        <Browsers {...props} />
        <SecurityEvents visit={visit} audit={capabilities.audit} />
        <ExportData visit={visit} />
        <DeleteAccount visit={visit} problem={problem} />
      </>
    ),
  };
}

/** The headings that each account has. Forty devices would stand between a person and the password. */
const HEADINGS = [
  ['keys', 'MCP keys'],
  ['devices', 'Devices'],
  ['webhooks', 'Webhooks'],
  ['timezone', 'Time zone'],
  ['password', 'Password'],
  ['second-factor', 'Two-factor sign-in'],
  ['browsers', 'Browsers'],
  ['events', 'Security events'],
  ['export', 'Export'],
  ['delete-account', 'Delete account'],
] as const;

function OnThisPage(): VNode {
  return (
    <nav class="on-this-page is-short" aria-label="On this page">
      <ul>
        {HEADINGS.map(([id, name]) => (
          <li key={id}>
            <a href={`#${id}`}>{name}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function McpKeys({ visit, problem, keys }: SettingsProps & { readonly keys: readonly KeySummary[] }): VNode {
  const live = keys.filter(({ revoked_at }) => revoked_at === null);
  const revoked = keys.filter(({ revoked_at }) => revoked_at !== null);
  const form = 'key';
  return (
    <section class="panel" aria-labelledby="keys">
      <h2 id="keys">MCP keys</h2>
      <p class="lead">
        Each key gives one agent or tool access to your account. Create a separate key for each, so that you can revoke
        them one by one.
      </p>
      {live.length === 0 ? (
        <Empty title="No live key">
          <p>Create one below, then give it to your agent. The start page shows where to paste it.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {live.map((key) => (
            <KeyItem key={key.key_id} row={key} visit={visit} />
          ))}
        </ul>
      )}
      <Form csrf={visit.csrf} action="/settings/keys" class="inline-form">
        <FormErrors form={form} problem={problem} shown={['name']} />
        <Field form={form} name="name" label="Name of a new key" problem={problem} />
        <label class="check">
          <input type="checkbox" name="read_only" value="true" /> Read only
        </label>
        <SubmitButton look="primary">Create key</SubmitButton>
      </Form>
      {revoked.length === 0 ? null : (
        <details class="more">
          <summary>Revoked keys ({revoked.length})</summary>
          <ul class="rows">
            {revoked.map(({ key_id: id, name, revoked_at: at }) => (
              <li key={id} class="row">
                <div class="row-main">
                  <Given>{name}</Given>
                  <p class="meta">revoked {at === null ? '' : <Moment at={at} zone={visit.zone} />}</p>
                </div>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function KeyItem({ row, visit }: { readonly row: KeySummary; readonly visit: MemberVisit }): VNode {
  const { zone, csrf } = visit;
  return (
    <li class="row">
      <div class="row-main">
        <strong>
          <Given>{row.name}</Given>
        </strong>
        <p class="meta">
          {row.read_only ? 'read only · ' : ''}
          <KeyDates row={row} zone={zone} />
        </p>
      </div>
      <Confirm label="Revoke…" of={row.name}>
        <p>Anything using this key loses access immediately. This cannot be undone.</p>
        <Form csrf={csrf} action={`/settings/keys/${row.key_id}/revoke`}>
          <SubmitButton look="danger">Revoke this key</SubmitButton>
        </Form>
      </Confirm>
    </li>
  );
}

function KeyDates({ row, zone }: { readonly row: KeySummary; readonly zone: ZoneFormat }): VNode {
  return (
    <>
      created <Moment at={row.created_at} zone={zone} /> ·{' '}
      {row.last_used_at === null ? (
        'never used'
      ) : (
        <>
          last used <Moment at={row.last_used_at} zone={zone} />
        </>
      )}
    </>
  );
}

function AccountKey({ visit, current }: SettingsProps & { readonly current: KeySummary | undefined }): VNode {
  return (
    <section class="panel" aria-labelledby="account-key">
      <h2 id="account-key">Account key</h2>
      <p class="lead">
        A 24-character key with the same access as an MCP key, short enough to type. Each account has one.
      </p>
      <div class="row">
        <p class="meta row-main">
          {current === undefined ? 'This account has none.' : <KeyDates row={current} zone={visit.zone} />}
        </p>
        <Confirm label="Replace…">
          <p>The current key stops working immediately. The new one is shown once, on the next page.</p>
          <Form csrf={visit.csrf} action="/settings/account-key">
            <SubmitButton look="danger">Replace the account key</SubmitButton>
          </Form>
        </Confirm>
      </div>
    </section>
  );
}

function Password({ visit, problem }: SettingsProps): VNode {
  const form = 'password';
  return (
    <section class="panel" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <p class="lead">A new password signs you out everywhere else. Keys and tokens stay as they are.</p>
      <Form csrf={visit.csrf} action="/settings/password">
        <FormErrors form={form} problem={problem} shown={['current_password', 'password']} />
        <AccountName email={visit.email} />
        <Field
          form={form}
          name="current_password"
          label="Current password"
          type="password"
          autocomplete="current-password"
          problem={problem}
        />
        <Field
          form={form}
          name="password"
          label="New password"
          type="password"
          autocomplete="new-password"
          problem={problem}
        />
        <div>
          <SubmitButton>Change password</SubmitButton>
        </div>
      </Form>
    </section>
  );
}

function Browsers({ visit, capabilities }: SettingsProps): VNode {
  const { zone, csrf, sessionId } = visit;
  return (
    <section class="panel" aria-labelledby="browsers">
      <h2 id="browsers">Signed-in browsers</h2>
      <ul class="rows">
        {capabilities.sessions.list(visit.accountId).map((browser) => (
          <li key={browser.session_id} class="row">
            <div class="row-main">
              <strong>
                <Given>{browserName(browser.agent)}</Given>
              </strong>
              <p class="meta">
                signed in <Moment at={browser.created_at} zone={zone} /> · last seen{' '}
                <Moment at={browser.last_seen_at} zone={zone} />
              </p>
            </div>
            {browser.session_id === sessionId ? (
              <span class="badge">this browser</span>
            ) : (
              <Form csrf={csrf} action={`/settings/browsers/${browser.session_id}/end`} class="">
                <SubmitButton look="small">
                  Sign out<span class="sr-only"> this browser</span>
                </SubmitButton>
              </Form>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DeleteAccountProps {
  readonly visit: MemberVisit;
  readonly problem: Problem | undefined;
}

function DeleteAccount({ visit, problem }: DeleteAccountProps): VNode {
  const form = 'delete';
  return (
    <section class="panel" aria-labelledby="delete-account">
      <h2 id="delete-account">Delete account</h2>
      <p class="lead">
        Permanently deletes your account with its keys, tasks, documents, files and blobs. It cannot be undone:{' '}
        <a href="#export">export your data</a> first if you may need it.
      </p>
      <FormErrors form={form} problem={problem} shown={[]} />
      <Confirm label="Delete my account…">
        <Form csrf={visit.csrf} action="/settings/delete">
          <Field form={form} name="password" label="Your password" type="password" autocomplete="current-password" />
          <SubmitButton look="danger">Delete everything</SubmitButton>
        </Form>
      </Confirm>
    </section>
  );
}
