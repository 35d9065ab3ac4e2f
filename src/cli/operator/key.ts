/** cairn key create, list, revoke: manages the keys of one account. */
import { jsonLine, shownLine } from '../../client/shown.ts';
import { type Command, needs, type Options } from '../command.ts';
import { print, printResult, table } from '../output.ts';
import { control } from './control.ts';

const BACKUPS_GO_ON =
  "The account's credential of backups stays valid, and whoever had this key could read it. If the machine is lost or the key " +
  'leaked, its owner replaces it: Backups, Replace on the page, or `cairn backups init --rotate` on another machine. ' +
  'All steps: `cairn help security`, A lost or stolen machine.';

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    summary: 'create another MCP key; prints it once',
    options: [needs('email', 'EMAIL'), needs('name', 'NAME')],
    flags: ['read-only'],
    explains: { name: 'name of the key in lists', 'read-only': 'the key can change nothing' },
    examples: [
      'cairn key create --email you@example.org --name laptop',
      'cairn key create --email you@example.org --name ci --read-only',
    ],
    run: create,
  },
  {
    name: 'key list',
    summary: 'list the keys of an account, without their values',
    options: [needs('email', 'EMAIL')],
    examples: ['cairn key list --email you@example.org'],
    run: list,
  },
  {
    name: 'key revoke',
    summary: 'revoke a key at once, and sign out the device that has it; its credential of backups stays valid',
    options: [needs('email', 'EMAIL'), needs('id', 'KEY_ID')],
    examples: ['cairn key revoke --email you@example.org --id key_0123456789abcdef'],
    run: revoke,
  },
];

async function create(options: Options): Promise<number> {
  const made = await control({
    command: 'key.create',
    email: options.required('email'),
    name: options.required('name'),
    ...(options.flag('read-only') ? { readOnly: true } : {}),
  });
  const rows = [
    ['key id', made.key_id],
    ['name', made.name],
    ['MCP key', made.mcp_key],
  ] as const;
  const next = 'Copy the key now: only its hash is stored, so it is not shown again.';
  return printResult(options, made, () => `${table(rows)}\n\n${next}`);
}

async function list(options: Options): Promise<number> {
  const { keys } = await control({ command: 'key.list', email: options.required('email') });
  if (options.json) print(jsonLine({ keys }));
  else {
    for (const key of keys) {
      const state = key.revoked_at === null ? `last used ${key.last_used_at ?? 'never'}` : `revoked ${key.revoked_at}`;
      const access = key.read_only ? 'read only  ' : '';
      print(`${key.key_id}  ${key.kind.padEnd(7)}  created ${key.created_at}  ${state}  ${access}${key.name}`);
    }
  }
  return 0;
}

async function revoke(options: Options): Promise<number> {
  const done = await control({
    command: 'key.revoke',
    email: options.required('email'),
    keyId: options.required('id'),
  });
  const device = done.signed_out === null ? '' : `; ${shownLine(done.signed_out)} is signed out`;
  const backups = done.backup_credential === null ? '' : `\n${BACKUPS_GO_ON}`;
  return printResult(options, done, () => `revoked ${done.revoked}${device}${backups}`);
}
