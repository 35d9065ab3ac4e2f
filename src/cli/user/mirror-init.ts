/**
 * cairn mirror init: issues the mirror credential for this machine and creates the age key that encrypts its archives.
 */

import { existsSync } from 'node:fs';
import { ClientError } from '../../client/client-error.ts';
import { checkRecipients, makeIdentity } from '../../client/mirror/age.ts';
import { type MirrorEntry, readMirrorEntry, writeMirrorEntry } from '../../client/mirror/file.ts';
import { issueCredential } from '../../client/mirror/hub.ts';
import { writePrivateFile } from '../../client/private-file.ts';
import { type ClientSettings, readClientSettings } from '../../client/settings.ts';
import { jsonLine } from '../../client/shown.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import type { Options } from '../command.ts';
import { print } from '../output.ts';
import { splitRecipients } from './mirror-access.ts';

export async function initMirror(options: Options): Promise<number> {
  const settings = readClientSettings();
  const credentials = new Credentials(settings, options.optional('server'));
  const { server } = credentials;
  const recipients = splitRecipients(options.optional('recipient'));
  checkRecipients(recipients);
  const kept = readMirrorEntry(settings.mirrorFile, server);
  const issued = await issueCredential(server, credentials.keyAuthorization(), options.flag('rotate'));
  const secret = issued.hmac_secret ?? (kept?.token === issued.token ? kept.hmac_secret : undefined);
  if (secret === undefined) {
    throw new ClientError(
      'this account already has a mirror credential, and its secret was shown only once. Set CAIRN_MIRROR_TOKEN and ' +
        'CAIRN_MIRROR_SECRET from where it is kept; or run `cairn mirror init --rotate`, and push every commit again.',
    );
  }
  const lock = await chooseLock(settings, kept, recipients);
  writeMirrorEntry(settings.mirrorFile, server, { token: issued.token, hmac_secret: secret, ...lock });
  if (options.json) {
    print(jsonLine({ server, status: issued.status, recipients: lock.recipients, identity_file: lock.identity_file }));
    return 0;
  }
  print(`The mirror of ${server} is ready; run \`cairn mirror push\` in a repository.`);
  print(`Archives are encrypted for ${lock.recipients.join(', ')}`);
  if (lock.identity_file !== null) {
    print(`Their decryption key is ${lock.identity_file}`);
    print('Copy that file to a safe place now: without it nobody can decrypt the backups, not even you.');
  }
  return 0;
}

/** The recipients from the options, else those stored earlier, else a new identity in a separate file. */
async function chooseLock(
  settings: ClientSettings,
  kept: MirrorEntry | undefined,
  recipients: readonly string[],
): Promise<Pick<MirrorEntry, 'recipients' | 'identity_file'>> {
  if (recipients.length > 0) return { recipients: [...recipients], identity_file: null };
  if (kept !== undefined) return { recipients: kept.recipients, identity_file: kept.identity_file };
  const path = settings.identityFile;
  if (existsSync(path)) {
    throw new ClientError(`${path} already exists; pass its recipient with --recipient age1…, or move it away.`);
  }
  const { identity, recipient } = await makeIdentity();
  writePrivateFile(path, `# recipient: ${recipient}\n${identity}\n`);
  return { recipients: [recipient], identity_file: path };
}
