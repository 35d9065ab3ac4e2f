/** cairn identity link, list, unlink: manages which subjects of the identity provider can sign in to an account. */
import { jsonLine } from '../../client/shown.ts';
import { type Command, needs, type Options } from '../command.ts';
import { print, printResult, table } from '../output.ts';
import { control } from './control.ts';

export const identityCommands: readonly Command[] = [
  {
    name: 'identity link',
    summary: 'link a subject of the identity provider to an account',
    options: [needs('email', 'EMAIL'), needs('subject', 'SUBJECT')],
    explains: { subject: 'subject (`sub`) of the provider’s tokens for this person' },
    examples: ['cairn identity link --email you@example.org --subject 248289761001'],
    run: link,
  },
  {
    name: 'identity list',
    summary: 'list the identities linked to an account',
    options: [needs('email', 'EMAIL')],
    examples: ['cairn identity list --email you@example.org'],
    run: list,
  },
  {
    name: 'identity unlink',
    summary: 'unlink an identity from an account',
    options: [needs('email', 'EMAIL'), needs('id', 'IDENTITY_ID')],
    examples: ['cairn identity unlink --email you@example.org --id idn_0123456789abcdef01234567'],
    run: unlink,
  },
];

async function link(options: Options): Promise<number> {
  const linked = await control({
    command: 'identity.link',
    email: options.required('email'),
    subject: options.required('subject'),
  });
  return printResult(options, linked, () =>
    table([
      ['identity id', linked.identity_id],
      ['issuer', linked.issuer],
      ['subject', linked.subject],
    ]),
  );
}

async function list(options: Options): Promise<number> {
  const { identities } = await control({ command: 'identity.list', email: options.required('email') });
  if (options.json) print(jsonLine({ identities }));
  else {
    for (const one of identities) {
      print(`${one.identity_id}  linked ${one.linked_at}  ${one.issuer}  ${one.subject}  ${one.label ?? ''}`.trimEnd());
    }
  }
  return 0;
}

async function unlink(options: Options): Promise<number> {
  const done = await control({
    command: 'identity.unlink',
    email: options.required('email'),
    identityId: options.required('id'),
  });
  return printResult(options, done, () => `unlinked ${done.unlinked}`);
}
