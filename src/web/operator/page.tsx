/** The operator's pages: accounts and their usage, who may sign up, and invitations. */
import type { VNode } from 'preact';
import type { InvitationSummary } from '../../accounts/sign-up/invitations.ts';
import type { AccountPage, AccountView } from '../../accounts/standing/directory.ts';
import type { QuotaKind } from '../../common/fault.ts';
import type { MemberReport } from '../../http/route/health.ts';
import { limits } from '../../limits/service.ts';
import { Checkbox, Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit, View } from '../pages.ts';
import { bytesText, Confirm, Empty, Fact, Form, Given, Moment, SubmitButton } from '../ui.tsx';
import { MemberRows } from './members.tsx';

export const ACCOUNTS_PATH = '/accounts';

export const QUOTA_KINDS: readonly { readonly kind: QuotaKind; readonly label: string }[] = [
  { kind: 'blobs', label: 'Mirror blobs' },
  { kind: 'files', label: 'Files' },
  { kind: 'history', label: 'Earlier versions' },
  { kind: 'documents', label: 'Documents and tasks' },
];

export const GIB = 1024 ** 3;

export interface AccountsProps {
  readonly visit: MemberVisit;
  readonly page: AccountPage;
  readonly search: string;
  readonly invitations: readonly InvitationSummary[];
  /** Undefined: this hub has no log. */
  readonly members: MemberReport | undefined;
  readonly problem?: Problem | undefined;
}

export function accountsView(props: AccountsProps): View {
  const { visit, page, search } = props;
  return {
    title: 'Accounts',
    section: 'accounts',
    problem: props.problem,
    body: (
      <>
        <h1>Accounts</h1>
        <section class="panel" aria-labelledby="accounts">
          <h2 id="accounts">Who has an account</h2>
          <form method="get" action={ACCOUNTS_PATH} class="inline-form">
            <Field form="search" name="search" label="Email begins with" required={false} isPlain value={search} />
            <SubmitButton>Search</SubmitButton>
          </form>
          {page.accounts.length === 0 ? (
            <Empty title="No account found">
              <p>Clear the search, or invite somebody below.</p>
            </Empty>
          ) : (
            <ul class="rows">
              {page.accounts.map((account) => (
                <AccountRow key={account.account_id} account={account} visit={visit} />
              ))}
            </ul>
          )}
          {page.next === null ? null : (
            <p>
              <a class="button" href={`${ACCOUNTS_PATH}?${new URLSearchParams({ search, after: page.next })}`}>
                Next page
              </a>
            </p>
          )}
        </section>
        <Invitations {...props} />
        {props.members === undefined ? null : (
          <MemberRows csrf={visit.csrf} path={ACCOUNTS_PATH} report={props.members} />
        )}
      </>
    ),
  };
}

function AccountRow({ account, visit }: { readonly account: AccountView; readonly visit: MemberVisit }): VNode {
  const { used_bytes: used } = account;
  return (
    <li class="row">
      <div class="row-main">
        <strong>
          <a href={`${ACCOUNTS_PATH}/${account.account_id}`}>
            <Given>{account.email}</Given>
          </a>
        </strong>{' '}
        {account.account_id === visit.accountId ? <span class="badge good">you</span> : null}
        {account.operator ? <span class="badge">operator</span> : null}
        {account.disabled_at === null ? null : <span class="badge">disabled</span>}
        <p class="meta">
          {account.last_seen_at === null ? (
            'never seen'
          ) : (
            <>
              last seen <Moment at={account.last_seen_at} zone={visit.zone} />
            </>
          )}
          {' · '}
          {QUOTA_KINDS.map(({ kind, label }) => `${label.toLowerCase()} ${bytesText(used[kind])}`).join(' · ')}
        </p>
      </div>
    </li>
  );
}

function Invitations({ visit, invitations, problem }: AccountsProps): VNode {
  const { csrf, zone } = visit;
  const form = 'invite';
  return (
    <section class="panel" aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <p class="lead">An invitation lets someone create an account even when sign-up is closed.</p>
      {invitations.length === 0 ? null : (
        <ul class="rows">
          {invitations.map((one) => (
            <li key={one.invite_id} class="row">
              <div class="row-main">
                <Given>{one.email ?? 'Anyone with the code'}</Given>
                <p class="meta">
                  accounts left: {one.uses_left} · valid until <Moment at={one.expires_at} zone={zone} />
                </p>
              </div>
              <Form csrf={csrf} action={`${ACCOUNTS_PATH}/invitations/${one.invite_id}/revoke`} class="">
                <SubmitButton look="small">
                  Revoke<span class="sr-only"> the invitation {one.invite_id}</span>
                </SubmitButton>
              </Form>
            </li>
          ))}
        </ul>
      )}
      <Form csrf={csrf} action={`${ACCOUNTS_PATH}/invitations`}>
        <FormErrors form={form} problem={problem} shown={['email', 'uses', 'days']} />
        <Field form={form} name="email" label="Only for this email" type="email" required={false} problem={problem} />
        <Field form={form} name="uses" label="Accounts" value="1" problem={problem} />
        <Field
          form={form}
          name="days"
          label="Days it is valid"
          value={String(limits.inviteDaysDefault)}
          problem={problem}
        />
        <div>
          <SubmitButton look="primary">Create invitation</SubmitButton>
        </div>
      </Form>
    </section>
  );
}

export interface AccountProps {
  readonly visit: MemberVisit;
  readonly account: AccountView;
  readonly problem?: Problem | undefined;
}

export function accountPage(props: AccountProps): View {
  const { visit, account } = props;
  const { zone } = visit;
  return {
    title: account.email,
    section: 'accounts',
    problem: props.problem,
    body: (
      <>
        <p>
          <a href={ACCOUNTS_PATH}>All accounts</a>
        </p>
        <h1>
          <Given>{account.email}</Given>
        </h1>
        <section class="panel" aria-labelledby="state">
          <h2 id="state">State</h2>
          <dl class="facts-list">
            <Fact name="Name">{account.name === null ? 'none' : <Given>{account.name}</Given>}</Fact>
            <Fact name="Created">
              <Moment at={account.created_at} zone={zone} />
            </Fact>
            <Fact name="Last seen">
              {account.last_seen_at === null ? 'never' : <Moment at={account.last_seen_at} zone={zone} />}
            </Fact>
            <Fact name="Live keys">{String(account.live_keys)}</Fact>
            <Fact name="Signed-in browsers">{String(account.browsers)}</Fact>
            {QUOTA_KINDS.map(({ kind, label }) => (
              <Fact key={kind} name={label}>
                {bytesText(account.used_bytes[kind])} of {bytesText(account.quota_bytes[kind])}
              </Fact>
            ))}
          </dl>
        </section>
        <Quotas {...props} />
        <Access {...props} />
      </>
    ),
  };
}

function Quotas({ visit, account, problem }: AccountProps): VNode {
  const form = 'quota';
  return (
    <section class="panel" aria-labelledby="quotas">
      <h2 id="quotas">Quotas</h2>
      <p class="lead">Leave a field empty to use the default of the hub.</p>
      <Form csrf={visit.csrf} action={`${ACCOUNTS_PATH}/${account.account_id}/quota`}>
        <FormErrors form={form} problem={problem} shown={QUOTA_KINDS.map(({ kind }) => kind)} />
        {QUOTA_KINDS.map(({ kind, label }) => (
          <Field
            key={kind}
            form={form}
            name={kind}
            label={`${label}, in GiB`}
            required={false}
            value={gibOf(account.own_quota_bytes[kind])}
            problem={problem}
          />
        ))}
        <Checkbox
          form={form}
          name="keeps_writing"
          label="Can write while the disk is nearly full"
          checked={account.keeps_writing}
          problem={problem}
        />
        <div>
          <SubmitButton>Save</SubmitButton>
        </div>
      </Form>
    </section>
  );
}

function gibOf(bytes: number | undefined): string {
  return bytes === undefined ? '' : String(Number((bytes / GIB).toFixed(3)));
}

function Access({ visit, account, problem }: AccountProps): VNode {
  const { csrf, accountId } = visit;
  const path = `${ACCOUNTS_PATH}/${account.account_id}`;
  if (account.account_id === accountId) {
    return (
      <section class="panel" aria-labelledby="access">
        <h2 id="access">Access</h2>
        <p>This is your own account. You can delete it in your settings.</p>
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="access">
      <h2 id="access">Access</h2>
      {account.disabled_at === null ? (
        <Confirm label="Disable…">
          <p>Its keys, tokens and browsers stop working immediately. Its data stays.</p>
          <Form csrf={csrf} action={`${path}/disable`}>
            <SubmitButton look="danger">Disable this account</SubmitButton>
          </Form>
        </Confirm>
      ) : (
        <Form csrf={csrf} action={`${path}/enable`} class="">
          <SubmitButton>Enable this account</SubmitButton>
        </Form>
      )}
      <Form csrf={csrf} action={`${path}/delete`}>
        <h3>Delete this account</h3>
        <p>This permanently deletes the account with all its data. It cannot be undone.</p>
        <FormErrors form="delete" problem={problem} shown={['confirm']} />
        <Field form="delete" name="confirm" label="Type its email to confirm" problem={problem} />
        <div>
          <SubmitButton look="danger">Delete account</SubmitButton>
        </div>
      </Form>
    </section>
  );
}
