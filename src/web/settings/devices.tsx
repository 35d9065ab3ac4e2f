/** The part of the settings page for signed-in devices and their access tokens. */
import type { VNode } from 'preact';
import type { SignInSummary } from '../../oauth/sign-ins.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit } from '../pages.ts';
import { Confirm, Empty, Form, Given, Moment } from '../ui.tsx';

interface DevicesProps {
  readonly visit: MemberVisit;
  readonly capabilities: Pick<Capabilities, 'signIns' | 'tokens'>;
}

export function Devices({ visit, capabilities }: DevicesProps): VNode {
  const devices = capabilities.signIns.list(visit.accountId).filter((one) => one.via_browser !== true);
  return (
    <section class="panel" aria-labelledby="devices">
      <h2 id="devices">Signed-in devices</h2>
      <p class="lead">Machines you authorized with a code. Each is signed out 60 days after its last use.</p>
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
            <DeviceItem key={device.sign_in_id} device={device} visit={visit} />
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
            <Confirm
              label={
                <>
                  Revoke…<span class="sr-only"> {deviceNameOf(app)}</span>
                </>
              }
            >
              <p>The app loses access immediately.</p>
              <Form csrf={visit.csrf} action={`/settings/devices/${app.sign_in_id}/end`}>
                <button class="button danger" type="submit">
                  Revoke access
                </button>
              </Form>
            </Confirm>
          </li>
        ))}
      </ul>
    </section>
  );
}

function DeviceItem({ device, visit }: { readonly device: SignInSummary; readonly visit: MemberVisit }): VNode {
  const name = deviceNameOf(device);
  return (
    <li class="row">
      <div class="row-main">
        <strong>
          <Given>{name}</Given>
        </strong>
        <p class="meta">
          with <Given>{device.client_id}</Given> · since <Moment at={device.created_at} zone={visit.zone} /> · last used{' '}
          <Moment at={device.used_at} zone={visit.zone} />
        </p>
      </div>
      <Confirm
        label={
          <>
            Sign out…<span class="sr-only"> {name}</span>
          </>
        }
      >
        <p>
          Its tokens stop working immediately.{' '}
          {device.scope.split(' ').includes('mcp')
            ? 'Its MCP key is in the list above. If the device is lost, revoke that key too.'
            : ''}
        </p>
        <Form csrf={visit.csrf} action={`/settings/devices/${device.sign_in_id}/end`}>
          <button class="button danger" type="submit">
            Sign this device out
          </button>
        </Form>
      </Confirm>
    </li>
  );
}

export function Tokens({ visit, capabilities }: DevicesProps): VNode {
  const tokens = capabilities.tokens.list(visit.accountId);
  const devices = capabilities.signIns.list(visit.accountId);
  return (
    <section class="panel" aria-labelledby="tokens">
      <h2 id="tokens">Access tokens</h2>
      <p class="lead">
        Short-lived credentials of your devices and apps. Each expires within an hour. Create one for a script that runs
        now, and send it as <code>Authorization: Bearer</code>.
      </p>
      <Form csrf={visit.csrf} action="/settings/tokens" class="inline-form">
        <label class="check">
          <input type="checkbox" name="read_only" value="true" /> Read only
        </label>
        <button class="button" type="submit">
          Create access token
        </button>
      </Form>
      <ul class="rows">
        {tokens.map(({ token_id: id, sign_in_id: signIn, read_only: readOnly, expires_at: at }) => {
          const device = devices.find(({ sign_in_id: one }) => one === signIn);
          return (
            <li key={id} class="row">
              <div class="row-main">
                {device === undefined ? 'Created without a device' : <Given>{deviceNameOf(device)}</Given>}
                <p class="meta">
                  {readOnly ? 'read only · ' : ''}
                  ends <Moment at={at} zone={visit.zone} />
                </p>
              </div>
              <Form csrf={visit.csrf} action={`/settings/tokens/${id}/end`} class="">
                <button class="button small" type="submit">
                  Revoke<span class="sr-only"> this access token</span>
                </button>
              </Form>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Returns the name of a device or app; if it has none, the id of its client. */
export function deviceNameOf(signIn: SignInSummary | undefined): string {
  return signIn?.device_name ?? signIn?.client_id ?? '';
}
