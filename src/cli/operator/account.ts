/** cairn account: creates an account and prints its keys once; sets the password for the web pages. */
import { shownLine } from '../../client/shown.ts';
import { Refusal } from '../../common/fault.ts';
import { StartError } from '../../common/start-error.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { printResult, table } from '../output.ts';
import { readSecret } from '../secret-input.ts';
import { control } from './control.ts';
import { operatorConfig } from './settings.ts';

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
  const passwordHash = await hash(await readSecret('New password'));
  const set = await control({ command: 'account.password', email, passwordHash });
  return printResult(options, set, () => `The password of ${set.email} is set. Its browsers are signed out.`);
}

/** Hashed here, so that the password itself never leaves this process. */
async function hash(password: string): Promise<string> {
  const { Passwords } = await import('../../accounts/password.ts');
  const { Pool } = await import('../../pool/pool.ts');
  const pool = new Pool({ threads: 1 });
  try {
    return await new Passwords(pool, operatorConfig().breachedPasswords).hash(password);
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
