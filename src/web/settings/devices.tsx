/** The part of the settings page for signed-in devices and their access tokens. */
import type { VNode } from 'preact';
import type { SignInSummary } from '../../oauth/sign-ins.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit } from '../pages.ts';
import { Confirm, Empty, Form, Given, Moment, SubmitButton } from '../ui.tsx';

interface DevicesProps {
  readonly visit: MemberVisit;
  readonly capabilities: Pick<Capabilities, 'accounts' | 'credentials' | 'signIns' | 'tokens'>;
}

export function Devices({ visit, capabilities }: DevicesProps): VNode {
  const devices = capabilities.signIns.list(visit.accountId).filter((one) => one.via_browser !== true);
  const keys = capabilities.accounts.listKeys(visit.accountId);
  const hasBackups = capabilities.credentials.current(visit.accountId) !== undefined;
  return (
    <section class="panel" aria-labelledby="devices">
      <h2 id="devices">Signed-in devices</h2>
      <p class="lead">
        Machines you authorized with a code, each with its own MCP key and access tokens. A machine is signed out after
        60 days without use; its MCP key stays valid until you sign the device out.
      </p>
      {devices.length === 0 ? (
        <Empty title="No device yet">
          <p>
            Run <code>cairn login</code> on a machine, or open <a href="/device">the code page</a> when a tool shows you
            a code.
          </p>
        </Empty>
      ) : (
        <ul class="rows">
          {devices.map((device) => (
            <DeviceItem
              key={device.sign_in_id}
              device={device}
              visit={visit}
              hasBackups={hasBackups}
              keyUsedAt={keys.find(({ key_id: id }) => id === device.key_id)?.last_used_at}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Apps authorized in a browser. Renders nothing when there are none. */
export function ConnectedApps({ visit, capabilities }: DevicesProps): VNode | null {
  const apps = capabilities.signIns.list(visit.accountId).filter((one) => one.via_browser === true);
  if (apps.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="apps">
      <h2 id="apps">Connected apps</h2>
      <p class="lead">Apps you authorized in a browser. Each loses access 60 days after its last use.</p>
      <ul class="rows">
        {apps.map((app) => (
          <li key={app.sign_in_id} class="row">
            <div class="row-main">
              <strong>
                <Given>{deviceNameOf(app)}</Given>
              </strong>
              <p class="meta">
                {app.scope === 'read' ? 'read only' : 'full access'} · since{' '}
                <Moment at={app.created_at} zone={visit.zone} /> · last used{' '}
                <Moment at={app.used_at} zone={visit.zone} />
              </p>
            </div>
            <Confirm label="Revoke…" of={deviceNameOf(app)}>
              <p>The app loses access immediately.</p>
              <Form csrf={visit.csrf} action={`/settings/devices/${app.sign_in_id}/end`}>
                <SubmitButton look="danger">Revoke access</SubmitButton>
              </Form>
            </Confirm>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DeviceItemProps {
  readonly device: SignInSummary;
  readonly visit: MemberVisit;
  /** The account has a credential of backups, which any of its devices may have. */
  readonly hasBackups: boolean;
  /** When its MCP key was used last, ISO 8601. */
  readonly keyUsedAt: string | null | undefined;
}

function DeviceItem({ device, visit, hasBackups, keyUsedAt }: DeviceItemProps): VNode {
  const name = deviceNameOf(device);
  return (
    <li class="row">
      <div class="row-main">
        <strong>
          <Given>{name}</Given>
        </strong>
        <p class="meta">
          {device.key_id === undefined ? '' : 'MCP key · '}since <Moment at={device.created_at} zone={visit.zone} /> ·
          last used <Moment at={lastUseOf(device, keyUsedAt)} zone={visit.zone} />
        </p>
      </div>
      <Confirm label="Sign out…" of={name}>
        <p>
          {device.key_id === undefined
            ? 'Its access tokens stop working immediately.'
            : 'Its access tokens and its MCP key stop working immediately.'}{' '}
          {hasKeyElsewhere(device) ? 'It also got an MCP key, which stays valid. Revoke it under MCP keys.' : ''}
        </p>
        {hasBackups ? (
          <p>
            If it was lost, it may have the credential of your backups too: replace that under{' '}
            <a href="/mirror">Backups</a>.
          </p>
        ) : null}
        <Form csrf={visit.csrf} action={`/settings/devices/${device.sign_in_id}/end`}>
          <SubmitButton look="danger">Sign this device out</SubmitButton>
        </Form>
      </Confirm>
    </li>
  );
}

export function Tokens({ visit, capabilities }: DevicesProps): VNode {
  // Those of a device or app end with its own row.
  const tokens = capabilities.tokens.list(visit.accountId).filter((one) => one.sign_in_id === null);
  return (
    <section class="panel" aria-labelledby="tokens">
      <h2 id="tokens">Access tokens</h2>
      <p class="lead">
        Short-lived credentials without a device. Each expires within an hour. Create one for a script that runs now,
        and send it as <code>Authorization: Bearer</code>.
      </p>
      <Form csrf={visit.csrf} action="/settings/tokens" class="inline-form">
        <label class="check">
          <input type="checkbox" name="read_only" value="true" /> Read only
        </label>
        <SubmitButton>Create access token</SubmitButton>
      </Form>
      <ul class="rows">
        {tokens.map(({ token_id: id, read_only: readOnly, expires_at: at }) => (
          <li key={id} class="row">
            <div class="row-main">
              Created without a device
              <p class="meta">
                {readOnly ? 'read only · ' : ''}
                ends <Moment at={at} zone={visit.zone} />
              </p>
            </div>
            <Form csrf={visit.csrf} action={`/settings/tokens/${id}/end`} class="">
              <SubmitButton look="small">
                Revoke<span class="sr-only"> this access token</span>
              </SubmitButton>
            </Form>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the name of a device or app; if it has none, the id of its client. */
function deviceNameOf(signIn: SignInSummary | undefined): string {
  return signIn?.device_name ?? signIn?.client_id ?? '';
}

/** Says what no longer works after a device or app was signed out. */
export function endedText(signIn: SignInSummary | undefined): string {
  const name = deviceNameOf(signIn);
  if (signIn?.key_id !== undefined) return `“${name}” is signed out. Its access tokens and its MCP key no longer work.`;
  const text = `“${name}” is signed out. Its access tokens no longer work.`;
  return hasKeyElsewhere(signIn) ? `${text} Its MCP key still does: revoke it under MCP keys.` : text;
}

/** True for a sign-in whose record does not name the key that it got. */
function hasKeyElsewhere(signIn: SignInSummary | undefined): boolean {
  return signIn?.key_id === undefined && signIn?.scope.split(' ').includes('mcp') === true;
}

/** The later one of the last exchange of tokens and the last use of the key, ISO 8601. */
function lastUseOf({ used_at: usedAt }: SignInSummary, keyUsedAt: string | null | undefined): string {
  return keyUsedAt !== null && keyUsedAt !== undefined && keyUsedAt > usedAt ? keyUsedAt : usedAt;
}
