/** cairn backups uploaders, uploader-create, restorer-create, uploader-revoke: credentials of CI jobs, each for one direction. */

import { readMirrorEntry } from '../../../client/mirror/file.ts';
import {
  createUploader,
  listUploaders,
  type NewUploaderCredential,
  revokeUploader,
} from '../../../client/mirror/uploaders.ts';
import { readClientSettings } from '../../../client/settings.ts';
import { Credentials } from '../../../client/sign-in/credentials.ts';
import type { Options } from '../../command.ts';
import { printResult } from '../../output.ts';

function openAccount(options: Options) {
  const settings = readClientSettings();
  const credentials = new Credentials(settings, options.optional('server'));
  const { server } = credentials;
  const entry = readMirrorEntry(settings.mirrorFile, server);
  return { server, authorization: credentials.keyAuthorization(), recipients: entry?.recipients ?? [] };
}

export async function printUploaders(options: Options): Promise<number> {
  const { server, authorization } = openAccount(options);
  const uploaders = await listUploaders(server, authorization);
  return printResult(options, { uploaders }, () =>
    uploaders.length === 0
      ? 'There is no credential of a CI job; make one with `cairn backups uploader-create NAME`, or `restorer-create`.'
      : uploaders.map(({ id, name, access, created_at }) => `${id}  ${created_at}  ${access}s  ${name}`).join('\n'),
  );
}

export async function makeUploader(options: Options): Promise<number> {
  const { server, authorization, recipients } = openAccount(options);
  const made = await createUploader(server, authorization, { name: options.operand() ?? '', access: 'upload' });
  return printResult(options, { server, ...made, recipients }, () =>
    sentencesOf(server, made, [
      `CAIRN_MIRROR_SECRET=${made.hmac_secret ?? ''}`,
      `CAIRN_RECIPIENTS=${recipients.length === 0 ? 'age1… (run `cairn backups init` to have a key)' : recipients.join(',')}`,
    ]),
  );
}

/** Makes a credential that restores. The key that decrypts is a secret of its own, which the hub never has. */
export async function makeRestorer(options: Options): Promise<number> {
  const { server, authorization } = openAccount(options);
  const made = await createUploader(server, authorization, { name: options.operand() ?? '', access: 'download' });
  return printResult(options, { server, ...made }, () =>
    sentencesOf(server, made, ['Store the text of the key file too; `cairn backups pull --identity -` reads it.']),
  );
}

const MAY = { upload: 'upload backups', download: 'list and download backups' } as const;

function sentencesOf(server: string, made: NewUploaderCredential, more: readonly string[]): string {
  return [
    `The credential ${made.name} (${made.id}) can ${MAY[made.access]} and nothing else. Store these as variables of the CI job now:`,
    'they are not shown again.',
    `CAIRN_SERVER=${server}`,
    `CAIRN_MIRROR_TOKEN=${made.token}`,
    ...more,
    `Revoke it with \`cairn backups uploader-revoke ${made.id}\`; all backups stay readable.`,
  ].join('\n');
}

export async function endUploader(options: Options): Promise<number> {
  const { server, authorization } = openAccount(options);
  const id = options.operand() ?? '';
  await revokeUploader(server, authorization, id);
  return printResult(options, { revoked: id }, () => `Revoked ${id}. All backups stay readable.`);
}
