/** cairn token create: issues an access token for the REST resources, without a device sign-in. */
import { type Command, needs, type Options } from '../command.ts';
import { printResult, table } from '../output.ts';
import { control } from './control.ts';

export const tokenCommands: readonly Command[] = [
  {
    name: 'token create',
    summary: 'create an access token for the REST resources, valid for one hour',
    options: [needs('email', 'EMAIL')],
    examples: ['cairn token create --email you@example.org --json'],
    run: create,
  },
];

async function create(options: Options): Promise<number> {
  const made = await control({ command: 'token.create', email: options.required('email') });
  return printResult(options, made, () =>
    table([
      ['access token', made.access_token],
      ['expires in', `${made.expires_in} s`],
    ]),
  );
}
