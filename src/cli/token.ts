/** cairn token create: mints an access token, until a device can sign in by itself. */
import { control } from './control.ts';
import { readOptions } from './options.ts';
import { print, table } from './output.ts';
import { UsageError } from './usage-error.ts';

export async function tokenCommand([action, ...argv]: readonly string[]): Promise<number> {
  if (action !== 'create') throw new UsageError('token takes: create');
  const options = readOptions(argv, ['email']);
  const made = await control({ command: 'token.create', email: options.required('email') });
  if (options.json) print(JSON.stringify(made));
  else {
    print(
      table([
        ['access token', made.access_token],
        ['expires in', `${made.expires_in} s`],
      ]),
    );
  }
  return 0;
}
