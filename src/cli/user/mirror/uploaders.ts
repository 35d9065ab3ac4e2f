/** cairn backups uploaders, uploader-create, uploader-revoke: credentials of CI jobs, which upload and nothing else. */

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
      ? 'There is no upload-only credential; make one for a CI job with `cairn backups uploader-create NAME`.'
      : uploaders.map(({ id, name, created_at }) => `${id}  ${created_at}  ${name}`).join('\n'),
  );
}

export async function makeUploader(options: Options): Promise<number> {
  const { server, authorization, recipients } = openAccount(options);
  const made = await createUploader(server, authorization, options.operand() ?? '');
  return printResult(options, { server, ...made, recipients }, () => sentencesOf(server, made, recipients));
}

function sentencesOf(server: string, made: NewUploaderCredential, recipients: readonly string[]): string {
  return [
    `The credential ${made.name} (${made.id}) can upload backups and nothing else. Store these as variables of the CI job now:`,
    'the token and the secret are not shown again.',
    `CAIRN_SERVER=${server}`,
    `CAIRN_MIRROR_TOKEN=${made.token}`,
    `CAIRN_MIRROR_SECRET=${made.hmac_secret}`,
    `CAIRN_RECIPIENTS=${recipients.length === 0 ? 'age1… (run `cairn backups init` to have a key)' : recipients.join(',')}`,
    `Revoke it with \`cairn backups uploader-revoke ${made.id}\`; its backups stay readable.`,
  ].join('\n');
}

export async function endUploader(options: Options): Promise<number> {
  const { server, authorization } = openAccount(options);
  const id = options.operand() ?? '';
  await revokeUploader(server, authorization, id);
  return printResult(options, { revoked: id }, () => `Revoked ${id}. Its backups stay readable.`);
}
