/** cairn account: creates an account and prints its keys once; sets the password for the web pages. */
import type { PasswordRule } from '../../accounts/password.ts';
import { shownLine } from '../../client/shown.ts';
import { Refusal } from '../../common/fault.ts';
import { StartError } from '../../common/start-error.ts';
import { readConfig } from '../../config.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { printResult, table } from '../output.ts';
import { readSecret } from '../secret-input.ts';
import { control } from './control.ts';

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    summary: 'create an account; prints its keys once',
    options: [needs('email', 'EMAIL'), takes('name', 'NAME')],
    explains: { name: 'name of the person' },
    examples: ['cairn account create --email you@example.org'],
    run: create,
  },
  {
    name: 'account password',
    summary: 'set the password of an account, typed or piped in; signs its browsers out',
    options: [needs('email', 'EMAIL')],
    examples: ['cairn account password --email you@example.org', 'pass show cairn | cairn account password --email …'],
    run: setPassword,
  },
];

async function setPassword(options: Options): Promise<number> {
  const email = options.required('email');
  const password = await readSecret('New password');
  const { given } = await control({ command: 'settings' });
  const passwordHash = await passwordHashOf(
    password,
    readConfig(Object.fromEntries(Object.entries(given).filter(([name]) => RULE_SETTINGS.has(name)))),
  );
  const set = await control({ command: 'account.password', email, passwordHash });
  return printResult(options, set, () => `The password of ${set.email} is set. Its browsers are signed out.`);
}

/** Settings that decide which passwords are taken. */
const RULE_SETTINGS: ReadonlySet<string> = new Set([
  'CAIRN_BREACHED_PASSWORDS',
  'CAIRN_PASSWORD_MIN',
  'CAIRN_HOST',
  'CAIRN_PUBLIC_URL',
  'CAIRN_TRUSTED_PROXIES',
]);

/** Hashed here, so that the password itself never leaves this process, and by the rule of the hub. */
export async function passwordHashOf(password: string, rule: PasswordRule): Promise<string> {
  const { Passwords } = await import('../../accounts/password.ts');
  const { Pool } = await import('../../pool/pool.ts');
  const pool = new Pool({ threads: 1 });
  try {
    return await new Passwords(pool, rule).hash(password);
  } catch (error) {
    if (error instanceof Refusal) throw new StartError(error.message);
    throw error;
  } finally {
    await pool.close();
  }
}

async function create(options: Options): Promise<number> {
  const name = options.optional('name');
  const made = await control({
    command: 'account.create',
    email: options.required('email'),
    ...(name === undefined ? {} : { name }),
  });
  const rows = [
    ['account', made.account_id],
    ['email', made.email],
    ['account key', made.account_key],
    ['MCP key', made.mcp_key],
  ] as const;
  return printResult(
    options,
    made,
    () => `${table(rows)}

Copy both keys now: only their hashes are stored, so they are not shown again.
To sign in with a browser, set a password: cairn account password --email ${shownLine(made.email)}`,
  );
}
