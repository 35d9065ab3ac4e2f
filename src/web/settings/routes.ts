/** Handles the forms of the settings page. */
import type { Route } from '../../http/route/route.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { endedText } from './devices.tsx';
import { type SettingsCapabilities, settingsView } from './page.tsx';
import { timeZoneRoute } from './time-zone.tsx';
import { webhookForms } from './webhooks.tsx';

const PATH = '/settings';
/** For forms that change access to the account. */
const FRESH = { fresh: true };

export interface SettingsOptions extends SettingsCapabilities, Pick<Capabilities, 'logins' | 'leaving'> {
  readonly pages: Pages;
  /** MCP clients can sign in through a browser. */
  readonly offersSignIn: boolean;
}

export function settingsRoutes(options: SettingsOptions): Route[] {
  const { pages, accounts, sessions, signIns, tokens, identities } = options;
  const show = (visit: MemberVisit, problem?: Problem) => pages.show(visit, view(options, visit, problem));
  return [
    pages.member(PATH, (visit) => show(visit)),
    ...webhookForms({ ...options, view: (visit, problem) => view(options, visit, problem) }),
    timeZoneRoute({ ...options, view: (visit, problem) => view(options, visit, problem) }),
    pages.memberForm(`${PATH}/keys`, (visit, form) => createKey(options, visit, form), FRESH),
    pages.memberForm(`${PATH}/keys/:id/revoke`, async (visit) => {
      await accounts.revokeKey(visit.accountId, visit.request.params['id'] ?? '', visit.source);
      return pages.go(visit, PATH, { text: 'The key is revoked. It no longer works.' });
    }),
    pages.memberForm(
      `${PATH}/account-key`,
      async (visit) => {
        const key = await accounts.rollAccountKey(visit.accountId, visit.source);
        return pages.go(visit, PATH, {
          text: 'Account key replaced. Copy the new key now: it is not shown again.',
          secrets: [{ label: 'Account key', value: key }],
        });
      },
      FRESH,
    ),
    pages.memberForm(
      `${PATH}/identities`,
      async (visit, form) => {
        // The form shows no values again: the token is a secret until it expires.
        const tried = await problemOf('identity', {}, () =>
          identities.link(visit.accountId, form.get('token') ?? '', visit.source),
        );
        if (!tried.ok) return show(visit, tried.problem);
        const { label, subject } = tried.value;
        return pages.go(visit, PATH, { text: `“${label ?? subject}” is linked. Its tokens open this account now.` });
      },
      FRESH,
    ),
    pages.memberForm(`${PATH}/identities/:id/unlink`, async (visit) => {
      await identities.unlink(visit.accountId, visit.request.params['id'] ?? '', visit.source);
      return pages.go(visit, PATH, { text: 'The identity is unlinked. Its tokens no longer work here.' });
    }),
    pages.memberForm(`${PATH}/password`, (visit, form) => changePassword(options, visit, form)),
    pages.memberForm(`${PATH}/delete`, (visit, form) => deleteAccount(options, visit, form)),
    pages.memberForm(`${PATH}/devices/:id/end`, async (visit) => {
      const id = visit.request.params['id'] ?? '';
      const device = signIns.list(visit.accountId).find(({ sign_in_id: one }) => one === id);
      await signIns.end(visit.accountId, id, visit.source);
      return pages.go(visit, PATH, { text: endedText(device) });
    }),
    pages.memberForm(`${PATH}/tokens`, (visit, form) => createToken(options, visit, form), FRESH),
    pages.memberForm(`${PATH}/tokens/:id/end`, async (visit) => {
      await tokens.endNamed(visit.accountId, visit.request.params['id'] ?? '', visit.source);
      return pages.go(visit, PATH, { text: 'The access token is revoked.' });
    }),
    pages.memberForm(`${PATH}/browsers/:id/end`, async (visit) => {
      await sessions.endNamed(visit.accountId, visit.request.params['id'] ?? '', visit.source);
      return pages.go(visit, PATH, { text: 'That browser is signed out.' });
    }),
  ];
}

async function createKey(options: SettingsOptions, visit: MemberVisit, form: URLSearchParams) {
  const { pages, accounts } = options;
  const name = form.get('name') ?? '';
  const tried = await problemOf('key', { name }, () =>
    accounts.createKey(visit.accountId, name, visit.source, { readOnly: form.get('read_only') === 'true' }),
  );
  if (!tried.ok) return pages.show(visit, view(options, visit, tried.problem));
  const { name: given, mcp_key: key } = tried.value;
  return pages.go(visit, PATH, {
    text: `Key “${given}” created. Copy it now: it is not shown again.`,
    secrets: [
      {
        label: 'MCP key',
        value: key,
        isMcpKey: true,
        hint: 'Send it as Authorization: McpKey, one space, the key.',
      },
    ],
  });
}

async function createToken({ pages, tokens }: SettingsOptions, visit: MemberVisit, form: URLSearchParams) {
  const readOnly = form.get('read_only') === 'true';
  const { access_token: value } = await tokens.mint(visit.accountId, visit.source, { readOnly });
  return pages.go(visit, PATH, {
    text: `${readOnly ? 'Read-only access token' : 'Access token'} created. Copy it now: it is not shown again. It expires in an hour.`,
    secrets: [{ label: 'Access token', value, hint: 'Send it as Authorization: Bearer, one space, the token.' }],
  });
}

async function changePassword(options: SettingsOptions, visit: MemberVisit, form: URLSearchParams) {
  const { pages, logins } = options;
  const tried = await problemOf('password', {}, () =>
    logins.changePassword({
      accountId: visit.accountId,
      password: form.get('current_password') ?? '',
      next: form.get('password') ?? '',
      keptSessionId: visit.browserId,
      source: visit.source,
    }),
  );
  if (!tried.ok) return pages.show(visit, view(options, visit, tried.problem));
  return pages.go(visit, PATH, { text: 'Password changed. Every other browser is signed out.' });
}

async function deleteAccount(options: SettingsOptions, visit: MemberVisit, form: URLSearchParams) {
  const { pages, leaving } = options;
  const { accountId } = visit;
  const { address } = visit.request;
  const tried = await problemOf('delete', {}, () =>
    leaving.leave({ accountId, password: form.get('password') ?? '', address }),
  );
  if (!tried.ok) return pages.show(visit, view(options, visit, tried.problem));
  return pages.goAs('/', undefined, { text: 'Your account is deleted, with everything in it.' });
}

function view(options: SettingsOptions, visit: MemberVisit, problem?: Problem) {
  const { pages, offersSignIn } = options;
  const hub = { baseUrl: pages.hubUrl(visit), offersSignIn };
  return settingsView({ visit, capabilities: options, problem, hub, freshKey: pages.freshKey(visit) });
}
