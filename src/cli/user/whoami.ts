/** cairn whoami: shows the account of the current credential, according to the hub. */

import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { refusalOf, sendRequest } from '../../client/http.ts';
import { readClientSettings } from '../../client/settings.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import { type Command, type Options, takes } from '../command.ts';
import { printResult, table } from '../output.ts';

const accountSchema = z.object({ account_id: z.string(), email: z.string(), name: z.string().nullable() });

export const whoamiCommand: Command = {
  name: 'whoami',
  summary: 'show which account this machine uses',
  options: [takes('server', 'URL')],
  examples: ['cairn whoami --server https://cairn.example.org'],
  run: whoami,
};

async function whoami(options: Options): Promise<number> {
  const credentials = new Credentials(readClientSettings(), options.optional('server'));
  const { server } = credentials;
  const Authorization = await credentials.toolAuthorization();
  const answer = await sendRequest(server, '/api/account', { headers: { Authorization } });
  if (answer.status === 401) {
    throw new ClientError(`${server} no longer accepts ${credentials.describe()}; run \`cairn login\`.`);
  }
  const account = accountSchema.safeParse(answer.json());
  if (answer.status !== 200 || !account.success) throw refusalOf(server, answer);
  const { email, name, account_id } = account.data;
  return printResult(options, { server, account_id, email, name }, () =>
    table([
      ['server', server],
      ['email', email],
      ...(name === null ? [] : [['name', name] as const]),
      ['account', account_id],
      ['by', credentials.describe()],
    ]),
  );
}
