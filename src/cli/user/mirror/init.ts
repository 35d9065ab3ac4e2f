/**
 * cairn backups init: issues the credential that uploads backups from this machine, and creates the age key that encrypts
 * them.
 */
import { existsSync } from 'node:fs';
import { ClientError } from '../../../client/client-error.ts';
import { makeIdentity, readIdentities, recipientsOfIdentities } from '../../../client/mirror/age.ts';
import { backupExit } from '../../../client/mirror/exit-codes.ts';
import { type MirrorEntry, readMirrorEntry, writeMirrorEntry } from '../../../client/mirror/file.ts';
import { issueCredential } from '../../../client/mirror/hub.ts';
import { type DamagedArchive, isRotating, type RotationResult, rotateSafely } from '../../../client/mirror/rotation.ts';
import { readPrivateFile, writePrivateFile } from '../../../client/private-file.ts';
import { openStatusLine } from '../../../client/progress.ts';
import { type ClientSettings, readClientSettings } from '../../../client/settings.ts';
import { jsonLine, quoted } from '../../../client/shown.ts';
import { Credentials } from '../../../client/sign-in/credentials.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Options } from '../../command.ts';
import { print, tellUser } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { hubOf, openBackups, readKeyText, recipientsOf } from './access.ts';

const countArchives = async (options: Options) => (await openBackups(options).hub.list()).length;

interface Issued {
  readonly status: 'created' | 'existing' | 'replaced';
  readonly token: string;
  readonly hmac_secret: string;
  readonly rotation?: RotationResult;
}

export async function initMirror(options: Options): Promise<number> {
  const settings = readClientSettings();
  const credentials = new Credentials(settings, options.optional('server'));
  const { server } = credentials;
  const recipients = recipientsOf(options);
  const kept = readMirrorEntry(settings.mirrorFile, server);
  const key = chooseKey(options, settings, kept, recipients);
  const rotates = options.flag('rotate') || isRotating(settings.mirrorFile, server);
  const issued = rotates ? await rotate(options, settings, credentials, kept) : await issue(options, credentials, kept);
  const { isNew, ...lock } = await key();
  writeMirrorEntry(settings.mirrorFile, server, { token: issued.token, hmac_secret: issued.hmac_secret, ...lock });
  const { status, rotation } = issued;
  if (options.json) {
    print(jsonLine({ server, status, recipients: lock.recipients, identity_file: lock.identity_file, ...rotation }));
    return exitOf(rotation);
  }
  if (rotation !== undefined)
    print(`The credential was replaced; ${countWithNoun(rotation.resent, 'archive')} sent again.`);
  for (const one of rotation?.damaged ?? []) tellUser(damageSentence(one));
  print(`Backups to ${server} are ready; run \`cairn backups push\` in a repository.`);
  print(`They are encrypted for ${lock.recipients.join(', ')}`);
  if (lock.identity_file !== null) {
    if (!existsSync(lock.identity_file)) {
      tellUser(
        `their decryption key, ${lock.identity_file}, does not exist. With a copy of it, run \`cairn backups init --identity COPY\`; ` +
          'if it is lost, `cairn backups init --new-key`.',
      );
      return exitOf(rotation);
    }
    print(`Their decryption key is ${lock.identity_file}`);
    const earlier = isNew ? await countArchives(options) : 0;
    print(
      earlier === 0
        ? 'Copy that file to a safe place now: restoring needs it and a sign-in, nothing else.'
        : `This is a new key: the ${countWithNoun(earlier, 'archive')} before it ${earlier === 1 ? 'needs the key file that it was' : 'need the key file that they were'} ` +
            'encrypted for. Keep both files in a safe place.',
    );
  }
  return exitOf(rotation);
}

const exitOf = (rotation: RotationResult | undefined): number =>
  (rotation?.damaged ?? []).length === 0 ? 0 : backupExit.damaged;

function damageSentence({ commit_sha: commit, sha256, repository_label: label, copy }: DamagedArchive): string {
  const archive = `the archive of commit ${commit}${label === null ? '' : ` of ${label}`}`;
  return copy === null
    ? `${archive} is damaged on the hub, so it was not sent again and cannot be downloaded any more; run \`cairn backups push ` +
        '--again` in its repository for a new full backup.'
    : `${archive} was not sent again: its copy ${quoted(copy)} was changed on this disk. Replace the copy by blobs/${sha256} of an export ` +
        'of the account (`cairn export`, or Settings, Export), or remove it to give this archive up; then run ' +
        '`cairn backups init --rotate` again.';
}

async function issue(options: Options, credentials: Credentials, kept: MirrorEntry | undefined): Promise<Issued> {
  const { server } = credentials;
  const { status, token, hmac_secret } = await issueCredential(server, credentials.keyAuthorization(), false);
  const secret = hmac_secret ?? (kept?.token === token ? kept.hmac_secret : undefined);
  if (secret !== undefined) return { status, token, hmac_secret: secret };
  const count = await countArchives(options);
  throw new ClientError(
    'this account already has a credential for uploads, and its secret was shown only once. To restore, nothing more is ' +
      'needed: run `cairn backups pull`. To upload from here too, set CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET from where ' +
      `they are kept; or run \`cairn backups init --rotate --identity FILE\`: it replaces the pair and sends the ` +
      `${countWithNoun(count, 'archive')} again, so that all stay readable. FILE is the key file that you kept: without --identity, a ` +
      'new key is made.',
    backupExit.credential,
  );
}

async function rotate(
  options: Options,
  settings: ClientSettings,
  credentials: Credentials,
  kept: MirrorEntry | undefined,
): Promise<Issued> {
  const { mirrorFile } = settings;
  const { server } = credentials;
  const line = openStatusLine();
  const entryNow = () => {
    const entry = readMirrorEntry(mirrorFile, server);
    if (entry === undefined) throw new ClientError(`${mirrorFile} lost its entry of ${server}; run the command again.`);
    return entry;
  };
  try {
    const rotation = await rotateSafely({
      mirrorFile,
      hub: openBackups(options).hub,
      async rotate() {
        const { token, hmac_secret } = await issueCredential(server, credentials.keyAuthorization(), true);
        const lock = { recipients: kept?.recipients ?? [], identity_file: kept?.identity_file ?? null };
        writeMirrorEntry(mirrorFile, server, { token, hmac_secret: hmac_secret ?? '', ...lock });
        return hubOf(server, entryNow());
      },
      stored: () => hubOf(server, entryNow()),
      tell: tellUser,
      progress: (label, done, total) => line.show(() => `${label} ${done} of ${countWithNoun(total, 'archive')}`),
    });
    return { status: 'replaced', ...entryNow(), rotation };
  } finally {
    line.close();
  }
}

interface ChosenKey extends Pick<MirrorEntry, 'recipients' | 'identity_file'> {
  /** It was made now, so no archive is for it. */
  readonly isNew?: true;
}

/**
 * The recipients or the identity from the options, else those stored earlier, else a new identity in a separate file.
 * Checked before the credential is issued; called, it creates or copies the identity.
 */
function chooseKey(
  options: Options,
  settings: ClientSettings,
  kept: MirrorEntry | undefined,
  recipients: readonly string[],
): () => Promise<ChosenKey> {
  const identity = options.optional('identity');
  const isNewWanted = options.flag('new-key');
  if (isNewWanted && (identity !== undefined || recipients.length > 0))
    throw new UsageError('use --new-key alone, without --identity and recipients');
  if (identity !== undefined) {
    if (recipients.length > 0) throw new UsageError('use --identity or recipients, not both');
    return takeKey(settings.identityFile, identity);
  }
  if (recipients.length > 0) return async () => ({ recipients: [...recipients], identity_file: null });
  const path = settings.identityFile;
  if (isNewWanted) {
    if (existsSync(path))
      throw new ClientError(`${path} exists, and backups may need it; move it to a safe place first.`);
    return async () => await makeKey(path);
  }
  if (kept !== undefined && kept.recipients.length > 0) {
    return async () => ({ recipients: kept.recipients, identity_file: kept.identity_file });
  }
  // A restored key file, or one of another hub.
  if (existsSync(path)) return async () => ({ recipients: await recipientsOfIdentities(path), identity_file: path });
  return async () => await makeKey(path);
}

async function makeKey(path: string): Promise<ChosenKey> {
  const { identity, recipient } = await makeIdentity();
  writePrivateFile(path, `# recipient: ${recipient}\n${identity}\n`);
  return { recipients: [recipient], identity_file: path, isNew: true };
}

/** The key of a file that was kept, as the key of this machine. Throws ClientError where that is another one: backups may need it. */
function takeKey(path: string, given: string): () => Promise<ChosenKey> {
  const text = readKeyText(given);
  const identities = readIdentities(text, given);
  const own = readPrivateFile(path);
  if (own !== undefined && readIdentities(own, path).join() !== identities.join())
    throw new ClientError(`${path} is another key, which backups may need; move it to a safe place first.`);
  return async () => {
    if (own === undefined) writePrivateFile(path, text);
    return { recipients: await recipientsOfIdentities(path), identity_file: path };
  };
}
