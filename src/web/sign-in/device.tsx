/**
 * The page to authorize a device (RFC 8628, sections 3.3 and 5.4): a person types the code shown on the device, sees
 * the requested access, and approves or denies it. Opening a link alone decides nothing.
 */
import type { VNode } from 'preact';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import type { GrantDescription } from '../../oauth/device-grants.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit, PageAnswer, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Fact, Form, Given, Moment, SubmitButton } from '../ui.tsx';

const PATH = '/device';
/** A code is shown with 9 characters; people may add spaces. */
const CODE_CHARS_MAX = 20;

const SCOPES: Readonly<Record<string, string>> = {
  account: 'read and change everything in your account, until you sign it out',
  mcp: 'an MCP key with full access to your account until you revoke it',
};

export interface DeviceOptions extends Pick<Capabilities, 'devices' | 'letters'> {
  readonly pages: Pages;
}

export function deviceRoutes(options: DeviceOptions): Route[] {
  const { pages, devices, letters } = options;
  return [
    pages.member(PATH, (visit) => showDevice(options, visit, visit.request.query.get('user_code'))),
    pages.memberForm(
      `${PATH}/approve`,
      (visit, form) =>
        answer(options, visit, form, async (code) => {
          const device = await devices.approve(code, visit.accountId);
          letters.newSignIn(visit.email, `A device (${device.device_name ?? device.client})`, visit.source);
          return `“${device.device_name ?? device.client}” is now signed in. You can return to the device, which is listed here once it has continued.`;
        }),
      { fresh: true },
    ),
    pages.memberForm(`${PATH}/deny`, (visit, form) =>
      answer(options, visit, form, async (code) => {
        const device = await devices.deny(code, visit.accountId);
        return `“${device.device_name ?? device.client}” was turned away.`;
      }),
    ),
  ];
}

async function showDevice(options: DeviceOptions, visit: MemberVisit, given: string | null): Promise<Reply> {
  const { pages, devices } = options;
  const code = (given ?? '').slice(0, CODE_CHARS_MAX);
  if (code.trim() === '') return showCodeForm(pages, visit);
  const { accountId } = visit;
  const tried = await problemOf(
    'device',
    { user_code: code },
    () => devices.describe(code, { address: visit.request.address, accountId }),
    { notFound: 'user_code' },
  );
  return tried.ok ? showRequest(pages, visit, tried.value) : showCodeForm(pages, visit, tried.problem);
}

/** Approves or denies. Shows the code form again for an expired code, or the request again when the account is full. */
async function answer(
  options: DeviceOptions,
  visit: MemberVisit,
  form: URLSearchParams,
  act: (code: string) => Promise<string>,
): Promise<Reply> {
  const { pages, devices } = options;
  const code = (form.get('user_code') ?? '').slice(0, CODE_CHARS_MAX);
  const tried = await problemOf('device', { user_code: code }, () => act(code), { notFound: 'user_code' });
  if (tried.ok) return pages.go(visit, '/settings', { text: tried.value });
  if (tried.problem.fields['user_code'] !== undefined) return showCodeForm(pages, visit, tried.problem);
  const request = devices.describe(code, { address: visit.request.address, accountId: visit.accountId });
  return showRequest(pages, visit, request, tried.problem);
}

function showCodeForm(pages: Pages, visit: MemberVisit, problem?: Problem): PageAnswer {
  return pages.show(visit, {
    title: 'Sign in a device',
    problem,
    body: (
      <div class="narrow">
        <h1>Sign in a device</h1>
        <p class="lead">Enter the code shown on the device.</p>
        {/* GET, so that a code has an address that the device can link to. */}
        <form class="stack" method="get" action={PATH}>
          <Field form="device" name="user_code" label="Code" problem={problem} />
          <SubmitButton look="primary">Continue</SubmitButton>
        </form>
      </div>
    ),
  });
}

function showRequest(pages: Pages, visit: MemberVisit, request: GrantDescription, problem?: Problem): PageAnswer {
  return pages.show(visit, {
    title: 'Authorize this device?',
    isSecret: true,
    problem,
    body: (
      <div class="narrow wide">
        <h1>Authorize this device?</h1>
        <p class="lead">
          Authorize it only if you started this sign-in yourself and the device in front of you shows this code:
        </p>
        <p class="user-code">{request.user_code}</p>
        <FormErrors form="device" problem={problem} shown={[]} />
        <RequestFacts request={request} visit={visit} />
        <Form csrf={visit.csrf} action={`${PATH}/approve`} class="actions">
          <input type="hidden" name="user_code" value={request.user_code} />
          <SubmitButton look="primary">Authorize</SubmitButton>
          <SubmitButton formaction={`${PATH}/deny`}>Deny</SubmitButton>
        </Form>
      </div>
    ),
  });
}

function RequestFacts({ request, visit }: { readonly request: GrantDescription; readonly visit: MemberVisit }): VNode {
  const { device_name: name, client, scope, address, asked_at: at } = request;
  return (
    <dl class="facts-list">
      <Fact name="Device">{name === null ? 'It did not send a name.' : <Given>{name}</Given>}</Fact>
      <Fact name="Program">
        <Given>{client}</Given> <span class="meta">self-reported, not verified</span>
      </Fact>
      <Fact name="Asks for">
        <ul>
          {scope.split(' ').map((one) => (
            <li key={one}>{SCOPES[one] ?? one}</li>
          ))}
        </ul>
      </Fact>
      <Fact name="Asked">
        <Moment at={at} zone={visit.zone} /> from <Given>{address}</Given>
      </Fact>
      <Fact name="For">
        <Given>{visit.email}</Given>
      </Fact>
    </dl>
  );
}
