/**
 * cairn account list, show, disable, enable, delete, quota, operator, reset-2fa: manages access and limits of accounts.
 */
import type { AccountView } from '../../accounts/standing/directory.ts';
import { shownLine } from '../../client/shown.ts';
import { StartError } from '../../common/start-error.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { printResult, table } from '../output.ts';
import { askPerson } from '../secret-input.ts';
import { UsageError } from '../usage-error.ts';
import { control } from './control.ts';

const EMAIL = needs('email', 'EMAIL');
const KINDS = ['blobs', 'files', 'history', 'documents'] as const;

/** The options that set the quotas of an account. */
export const QUOTA_OPTIONS = KINDS.map((kind) => takes(kind, 'SIZE'));

/** What they mean. */
export const QUOTA_WORDS = {
  blobs: 'quota of mirror blobs: bytes, or with KiB, MiB, GiB, TiB; "default" for the setting of the hub',
  files: 'quota of synced files, likewise',
  history: 'quota of earlier versions of synced files, in the same form',
  documents: 'quota of documents, papers, handoffs and tasks, likewise',
};

export const standingCommands: readonly Command[] = [
  {
    name: 'account list',
    summary: 'list accounts with what they use and when they were last seen',
    options: [takes('search', 'TEXT')],
    explains: { search: 'only emails that begin with this' },
    examples: ['cairn account list', 'cairn account list --search ada --json'],
    run: list,
  },
  {
    name: 'account show',
    summary: 'show one account: state, use, quotas',
    options: [EMAIL],
    examples: ['cairn account show --email ada@example.org'],
    run: async (options) => show(options, await control({ command: 'account.show', email: options.required('email') })),
  },
  {
    name: 'account disable',
    summary: 'refuse every credential of an account at once; its data stays',
    options: [EMAIL],
    examples: ['cairn account disable --email ada@example.org'],
    run: async (options) =>
      show(options, await control({ command: 'account.disable', email: options.required('email') })),
  },
  {
    name: 'account enable',
    summary: 'accept the credentials of a disabled account again',
    options: [EMAIL],
    examples: ['cairn account enable --email ada@example.org'],
    run: async (options) =>
      show(options, await control({ command: 'account.enable', email: options.required('email') })),
  },
  {
    name: 'account delete',
    summary: 'permanently delete an account with everything in it',
    options: [EMAIL, takes('confirm', 'EMAIL')],
    explains: { confirm: 'the email again; without it you are asked' },
    examples: ['cairn account delete --email ada@example.org --confirm ada@example.org'],
    run: remove,
  },
  {
    name: 'account quota',
    summary: 'set the quotas of an account, and whether it can write when the disk is nearly full',
    options: [EMAIL, ...QUOTA_OPTIONS, takes('when-full', 'on|off')],
    explains: {
      ...QUOTA_WORDS,
      'when-full': 'whether it can write while the disk is 95 % full; operators always can',
    },
    examples: [
      'cairn account quota --email ada@example.org --blobs 200GiB',
      'cairn account quota --email ada@example.org --files default --when-full on',
    ],
    run: quota,
  },
  {
    name: 'account reset-2fa',
    summary: 'turn off two-factor sign-in for somebody who lost the app and the recovery codes',
    options: [EMAIL],
    examples: ['cairn account reset-2fa --email ada@example.org'],
    run: resetSecondFactor,
  },
  {
    name: 'account operator',
    summary: 'make an account an operator of the hub, or stop it from being one',
    options: [EMAIL],
    flags: ['remove'],
    explains: { remove: 'make it an ordinary account again' },
    examples: [
      'cairn account operator --email ada@example.org',
      'cairn account operator --email ada@example.org --remove',
    ],
    run: async (options) => {
      const isOperator = !options.flag('remove');
      const email = options.required('email');
      return show(options, await control({ command: 'account.operator', email, operator: isOperator }));
    },
  },
];

async function list(options: Options): Promise<number> {
  const search = options.optional('search')?.toLowerCase();
  const all: AccountView[] = [];
  for (let after: string | undefined; ; ) {
    const page = await control({
      command: 'account.list',
      ...(search === undefined ? {} : { search }),
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page.accounts);
    if (page.next === null) break;
    after = page.next;
  }
  return printResult(options, { accounts: all }, () => all.map(line).join('\n') || 'There are no accounts.');
}

function line(one: AccountView): string {
  const state = one.disabled_at === null ? (one.operator ? 'operator' : 'open') : 'disabled';
  const used = KINDS.map((kind) => `${kind} ${size(one.used_bytes[kind])}`).join(', ');
  return `${shownLine(one.email)}  ${state}  last seen ${one.last_seen_at ?? 'never'}  ${used}`;
}

function show(options: Options, one: AccountView): number {
  return printResult(options, one, () =>
    table([
      ['email', shownLine(one.email)],
      ['name', shownLine(one.name ?? '-')],
      ['account', one.account_id],
      ['state', one.disabled_at === null ? 'open' : `disabled since ${one.disabled_at}`],
      ['operator', one.operator ? 'yes' : 'no'],
      ['writes when full', one.operator || one.keeps_writing ? 'yes' : 'no'],
      ['created', one.created_at],
      ['last seen', one.last_seen_at ?? 'never'],
      ['live keys', String(one.live_keys)],
      ['browsers', String(one.browsers)],
      ...KINDS.map((kind) => [kind, `${size(one.used_bytes[kind])} of ${size(one.quota_bytes[kind])}`] as const),
    ]),
  );
}

/** The quotas given with `QUOTA_OPTIONS`; null: that of the hub. Throws UsageError. */
export function givenQuotas(options: Options): Partial<Record<(typeof KINDS)[number], number | null>> {
  const given = KINDS.flatMap((kind) => {
    const text = options.optional(kind);
    return text === undefined ? [] : [[kind, readSize(kind, text)] as const];
  });
  return Object.fromEntries(given);
}

async function quota(options: Options): Promise<number> {
  const given = givenQuotas(options);
  const whenFull = options.optional('when-full');
  if (whenFull !== undefined && whenFull !== 'on' && whenFull !== 'off')
    throw new UsageError('--when-full must be on or off');
  if (Object.keys(given).length === 0 && whenFull === undefined) {
    throw new UsageError('account quota needs --blobs, --files, --history, --documents or --when-full');
  }
  return show(
    options,
    await control({
      command: 'account.quota',
      email: options.required('email'),
      quotas: given,
      ...(whenFull === undefined ? {} : { keepsWriting: whenFull === 'on' }),
    }),
  );
}

async function resetSecondFactor(options: Options): Promise<number> {
  const done = await control({ command: 'account.reset_second_factor', email: options.required('email') });
  return printResult(
    options,
    done,
    () => `Two-factor sign-in of ${shownLine(done.email)} is off: the password alone signs in.`,
  );
}

async function remove(options: Options): Promise<number> {
  const email = options.required('email');
  const question = `This permanently deletes the account ${shownLine(email)} with all its data.\nType its email to confirm: `;
  const confirm = options.optional('confirm') ?? (await askPerson(question));
  if (confirm !== email) {
    throw new StartError(`${shownLine(email)} was not deleted: its email was not confirmed. Use --confirm ${email}.`);
  }
  const done = await control({ command: 'account.delete', email });
  const next = 'Nobody can use it any longer; its data is removed in the background.';
  return printResult(options, done, () => `Deleted ${shownLine(done.deleted)}. ${next}`);
}

const UNITS = ['', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size in bytes; null for "default". */
function readSize(kind: string, text: string): number | null {
  if (text === 'default') return null;
  const found = /^(\d{1,16})(KiB|MiB|GiB|TiB)?$/.exec(text);
  if (found === null) throw new UsageError(`--${kind} must be a number of bytes, such as 500MiB or 20GiB, or default`);
  return Number(found[1]) * 1024 ** UNITS.indexOf((found[2] ?? '') as (typeof UNITS)[number]);
}

function size(bytes: number): string {
  const unit = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** unit;
  return unit === 0 ? `${bytes} B` : `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
