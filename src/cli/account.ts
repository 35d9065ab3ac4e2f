/** cairn account create: makes an account and prints its keys, once. */
import { type Command, needs, type Options, takes } from './command.ts';
import { control } from './control.ts';
import { print, table } from './output.ts';

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    summary: 'make an account; prints its keys once',
    options: [needs('email', 'EMAIL'), takes('name', 'NAME')],
    examples: ['cairn account create --email you@example.org'],
    run: create,
  },
];

async function create(options: Options): Promise<number> {
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
