/** Routes and forms of the operator's pages. For anyone else their addresses do not exist. */
import type { AccountView } from '../../accounts/standing/directory.ts';
import type { Source } from '../../audit/records.ts';
import { invalidField, type QuotaKind, Refusal } from '../../common/fault.ts';
import type { MemberTools } from '../../http/route/health.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { ACCOUNTS_PATH, accountPage, accountsView, GIB, QUOTA_KINDS } from './page.tsx';

export interface OperatorOptions extends Pick<Capabilities, 'directory' | 'standings' | 'invitations' | 'letters'> {
  readonly pages: Pages;
  /** Undefined: this hub has no log. */
  readonly member: MemberTools | undefined;
}

export function operatorRoutes(options: OperatorOptions): Route[] {
  const { pages, standings, invitations } = options;
  const one = `${ACCOUNTS_PATH}/:id`;
  return [
    pages.operator(ACCOUNTS_PATH, (visit) => showAll(options, visit)),
    pages.operatorForm(`${ACCOUNTS_PATH}/invitations`, (visit, form) => invite(options, visit, form)),
    pages.operatorForm(`${ACCOUNTS_PATH}/invitations/:id/revoke`, async (visit) => {
      await invitations.revoke(visit.request.params['id'] ?? '', operatorOf(visit));
      return pages.go(visit, ACCOUNTS_PATH, { text: 'Invitation revoked.' });
    }),
    pages.operatorForm(`${ACCOUNTS_PATH}/members/hand-over`, (visit, form) => handOver(options, visit, form)),
    pages.operator(one, (visit) => pages.show(visit, accountPage({ visit, account: accountOf(options, visit) }))),
    pages.operatorForm(`${one}/disable`, async (visit) => {
      const account = otherOf(options, visit);
      await standings.disable(account.account_id, operatorOf(visit));
      return back(options, visit, account, 'Account disabled. Its credentials no longer work.');
    }),
    pages.operatorForm(`${one}/enable`, async (visit) => {
      const account = otherOf(options, visit);
      await standings.enable(account.account_id, operatorOf(visit));
      return back(options, visit, account, 'The account is enabled. Its credentials work again.');
    }),
    pages.operatorForm(`${one}/quota`, (visit, form) => setQuota(options, visit, form)),
    pages.operatorForm(`${one}/delete`, (visit, form) => remove(options, visit, form)),
  ];
}

async function showAll(
  { pages, directory, invitations, member }: OperatorOptions,
  visit: MemberVisit,
  problem?: Problem,
) {
  const { query } = visit.request;
  const search = (query.get('search') ?? '').trim().toLowerCase();
  const page = directory.page({ search, after: query.get('after') ?? undefined });
  const members = await member?.report();
  return pages.show(visit, accountsView({ visit, page, search, invitations: invitations.list(), members, problem }));
}

async function invite(options: OperatorOptions, visit: MemberVisit, form: URLSearchParams) {
  const { pages, invitations, letters } = options;
  const [email = '', uses = '', days = ''] = ['email', 'uses', 'days'].map((name) => form.get(name) ?? '');
  const tried = await problemOf('invite', { email, uses, days }, () =>
    invitations.create({ email: email.trim(), uses: Number(uses), days: Number(days) }, operatorOf(visit)),
  );
  if (!tried.ok) return showAll(options, visit, tried.problem);
  const { code, email: to, expires_at: until } = tried.value;
  const link = `${pages.hubUrl(visit)}/signup?invite=${code}`;
  const isMailed = to !== null && letters.areSent;
  if (isMailed) letters.invitation(to, link, until);
  return pages.go(visit, ACCOUNTS_PATH, {
    text: `Invitation created${isMailed ? ` and mailed to ${to}` : ''}. Copy its link now: you won’t see it again.`,
    secrets: [
      { label: 'Link', value: link },
      { label: 'Code', value: code, hint: 'For agents: the argument invite_code of signup_and_get_key.' },
    ],
  });
}

async function handOver({ pages, member }: OperatorOptions, visit: MemberVisit, form: URLSearchParams) {
  const to = form.get('to') ?? '';
  if (member === undefined) throw new Refusal({ kind: 'not_found', what: 'this hub has no other members' });
  await member.handOver(to);
  return pages.go(visit, ACCOUNTS_PATH, { text: `${to} takes over.` });
}

async function setQuota(options: OperatorOptions, visit: MemberVisit, form: URLSearchParams) {
  const { pages, standings } = options;
  const account = accountOf(options, visit);
  const keepsWriting = form.get('keeps_writing') === 'true';
  const values = Object.fromEntries(QUOTA_KINDS.map(({ kind }) => [kind, form.get(kind) ?? '']));
  const tried = await problemOf('quota', { ...values, keeps_writing: String(keepsWriting) }, () => {
    const quotas = Object.fromEntries(QUOTA_KINDS.map(({ kind }) => [kind, readGib(kind, values[kind] ?? '')]));
    return standings.change(account.account_id, { quotas, keeps_writing: keepsWriting }, operatorOf(visit));
  });
  if (!tried.ok) return pages.show(visit, accountPage({ visit, account, problem: tried.problem }));
  return back(options, visit, account, 'Quotas saved.');
}

async function remove(options: OperatorOptions, visit: MemberVisit, form: URLSearchParams) {
  const { pages, standings } = options;
  const account = otherOf(options, visit);
  const confirm = (form.get('confirm') ?? '').trim().toLowerCase();
  const tried = await problemOf('delete', { confirm }, async () => {
    if (confirm !== account.email) throw invalidField('confirm', 'confirm must be the email of the account');
    await standings.delete(account.account_id, operatorOf(visit));
  });
  if (!tried.ok) return pages.show(visit, accountPage({ visit, account, problem: tried.problem }));
  return pages.go(visit, ACCOUNTS_PATH, {
    text: `${account.email} is deleted. Its data is removed in the background.`,
  });
}

/** The operator whose browser sent the form, for the hub's log. */
function operatorOf({ source, email }: MemberVisit): Source {
  return { ...source, by: 'operator', who: email };
}

/** The account in the address. Throws Refusal `not_found`. */
function accountOf({ directory }: OperatorOptions, visit: MemberVisit): AccountView {
  const found = directory.view(visit.request.params['id'] ?? '');
  if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'account not found' });
  return found;
}

/** Like `accountOf`, but refuses the operator's own account, so that operators cannot lock themselves out. */
function otherOf(options: OperatorOptions, visit: MemberVisit): AccountView {
  const account = accountOf(options, visit);
  if (account.account_id !== visit.accountId) return account;
  throw invalidField('account', 'this is your own account; another operator, or the command line, can do this');
}

function back({ pages }: OperatorOptions, visit: MemberVisit, { account_id: id }: AccountView, text: string) {
  return pages.go(visit, `${ACCOUNTS_PATH}/${id}`, { text });
}

/** Converts GiB to bytes; null when empty: the default of the service applies. Throws Refusal `invalid_fields`. */
function readGib(field: QuotaKind, text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const bytes = /^\d{1,7}(\.\d{1,9})?$/.test(trimmed) ? Math.round(Number(trimmed) * GIB) : Number.NaN;
  if (!(bytes <= limits.quotaBytesMax)) throw invalidField(field, `${field} must be a number of GiB, or empty`);
  return bytes;
}
