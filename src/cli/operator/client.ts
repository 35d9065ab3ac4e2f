/** cairn client: registers, lists and removes the operator's OAuth clients, with or without a running service. */

import { limits } from '../../limits/service.ts';
import { countWithNoun } from '../../text/count.ts';
import { type Command, needs, type Options, repeats } from '../command.ts';
import { printResult, table } from '../output.ts';
import { control } from './control.ts';

export const clientCommands: readonly Command[] = [
  {
    name: 'client add',
    summary: 'register an app for browser sign-in; prints its client_id',
    options: [needs('name', 'NAME'), { ...repeats('redirect', 'URI'), required: true }],
    explains: {
      name: 'name on the consent page, shown as registered by the operator',
      redirect: `where the browser returns to: https, http on loopback, or an app's scheme (1 to ${limits.redirectUrisMax})`,
    },
    examples: [
      'cairn client add --name "Team agent" --redirect https://agent.example.org/callback',
      'cairn client add --name Desktop --redirect http://127.0.0.1/callback --redirect org.example.desktop:/callback',
    ],
    run: add,
  },
  {
    name: 'client list',
    summary: 'list the apps registered by the operator',
    examples: ['cairn client list'],
    run: list,
  },
  {
    name: 'client remove',
    summary: 'remove an app and end its sign-ins at once, with their tokens and MCP keys',
    options: [needs('id', 'CLIENT_ID')],
    examples: ['cairn client remove --id ccl_0123456789abcdef0123456789abcdef'],
    run: remove,
  },
];

async function add(options: Options): Promise<number> {
  const name = options.required('name');
  const added = await control({ command: 'client.add', name, redirects: [...options.many('redirect')] });
  return printResult(options, added, () =>
    table([
      ['client_id', added.client_id],
      ['name', added.client_name ?? ''],
      ...added.redirect_uris.map((uri) => ['redirect', uri] as const),
    ]),
  );
}

async function list(options: Options): Promise<number> {
  const { clients } = await control({ command: 'client.list' });
  const lines = clients.map(
    ({ client_id: id, client_name: name, redirect_uris: redirects, created_at: created }) =>
      `${id}  ${name ?? ''}  created ${created}  ${redirects.join(' ')}`,
  );
  return printResult(
    options,
    { clients },
    () => lines.join('\n') || 'There are no clients registered by the operator.',
  );
}

async function remove(options: Options): Promise<number> {
  const done = await control({ command: 'client.remove', clientId: options.required('id') });
  const ended = countWithNoun(done.sign_ins_ended, 'sign-in');
  return printResult(options, done, () => `Client ${done.removed} is removed. Ended: ${ended}.`);
}
