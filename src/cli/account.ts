/** cairn account create: makes an account and prints its keys, once. */
import { control } from './control.ts';
import { readOptions } from './options.ts';
import { print, table } from './output.ts';
import { UsageError } from './usage-error.ts';

export async function accountCommand([action, ...argv]: readonly string[]): Promise<number> {
  if (action !== 'create') throw new UsageError('account takes: create');
  const options = readOptions(argv, ['email', 'name']);
  const name = options.optional('name');
  const made = await control({
    command: 'account.create',
    email: options.required('email'),
    ...(name === undefined ? {} : { name }),
  });
  if (options.json) {
    print(JSON.stringify(made));
    return 0;
  }
  print(
    table([
      ['account', made.account_id],
      ['email', made.email],
      ['account key', made.account_key],
      ['MCP key', made.mcp_key],
    ]),
  );
  print('\nKeep both keys now: only their hashes are stored, so they are not shown again.');
  return 0;
}
