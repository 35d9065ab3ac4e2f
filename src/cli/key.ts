/** cairn key create, list, revoke: the keys of one account. */
import { control } from './control.ts';
import { type Options, readOptions } from './options.ts';
import { print, table } from './output.ts';
import { UsageError } from './usage-error.ts';

export async function keyCommand([action, ...argv]: readonly string[]): Promise<number> {
  switch (action) {
    case 'create':
      return await create(readOptions(argv, ['email', 'name']));
    case 'list':
      return await list(readOptions(argv, ['email']));
    case 'revoke':
      return await revoke(readOptions(argv, ['email', 'id']));
    default:
      throw new UsageError('key takes: create, list or revoke');
  }
}

async function create(options: Options): Promise<number> {
  const made = await control({
    command: 'key.create',
    email: options.required('email'),
    name: options.required('name'),
  });
  if (options.json) print(JSON.stringify(made));
  else {
    print(
      table([
        ['key id', made.key_id],
        ['name', made.name],
        ['MCP key', made.mcp_key],
      ]),
    );
    print('\nKeep the key now: only its hash is stored, so it is not shown again.');
  }
  return 0;
}

async function list(options: Options): Promise<number> {
  const { keys } = await control({ command: 'key.list', email: options.required('email') });
  if (options.json) print(JSON.stringify({ keys }));
  else {
    for (const key of keys) {
      const state = key.revoked_at === null ? `last used ${key.last_used_at ?? 'never'}` : `revoked ${key.revoked_at}`;
      print(`${key.key_id}  ${key.kind.padEnd(7)}  created ${key.created_at}  ${state}  ${key.name}`);
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
  print(options.json ? JSON.stringify(done) : `revoked ${done.revoked}`);
  return 0;
}
