/** Opens the hub, the credential and the encryption key of the backup commands. */
import { existsSync, readFileSync } from 'node:fs';
import { ClientError, NotSignedIn } from '../../../client/client-error.ts';
import { type Lock, readIdentities, readRecipients, type Unlock } from '../../../client/mirror/age.ts';
import { backupExit } from '../../../client/mirror/exit-codes.ts';
import { type MirrorEntry, readMirrorEntry, writeMirrorEntry } from '../../../client/mirror/file.ts';
import { issueCredential, MirrorHub } from '../../../client/mirror/hub.ts';
import { type ClientSettings, readClientSettings } from '../../../client/settings.ts';
import { Credentials } from '../../../client/sign-in/credentials.ts';
import { limits } from '../../../limits/service.ts';
import type { Options } from '../../command.ts';
import { printError } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';

export interface MirrorAccess {
  readonly server: string;
  readonly hub: MirrorHub;
  /** Entry stored by `cairn backups init`; undefined when this machine has none. */
  readonly entry: MirrorEntry | undefined;
}

interface Place {
  readonly settings: ClientSettings;
  readonly credentials: Credentials;
  readonly entry: MirrorEntry | undefined;
}

function placeOf(options: Options): Place {
  const settings = readClientSettings();
  const credentials = new Credentials(settings, options.optional('server'));
  return { settings, credentials, entry: readMirrorEntry(settings.mirrorFile, credentials.server) };
}

/**
 * The backups on a hub, for reading: with the token of CAIRN_MIRROR_TOKEN, of `cairn backups init`, or of the account,
 * fetched with the sign-in. Throws ClientError.
 */
export function openBackups(options: Options): MirrorAccess {
  const place = placeOf(options);
  const { settings, credentials, entry } = place;
  const { server } = credentials;
  let known = settings.mirrorToken ?? entry?.token;
  const hub = new MirrorHub({
    server,
    async token(renews) {
      const isFixed = settings.mirrorToken !== undefined;
      if (known === undefined || (renews && !isFixed)) known = await tokenOfAccount(place);
      return known;
    },
    secret: undefined,
    isFromVariable: settings.mirrorToken !== undefined,
    attemptsMax: limits.backupAttempts,
    onWait: tellWait,
  });
  return { server, hub, entry };
}

/** The backups on a hub, for uploading: with the token and the secret. Throws ClientError when this machine has none. */
export function openUploads(options: Options): MirrorAccess {
  const { settings, credentials, entry } = placeOf(options);
  const { server } = credentials;
  const given = pairOf(settings);
  const pair = given ?? entry;
  if (pair === undefined) {
    throw new NotSignedIn(
      `this machine has no credential to upload backups to ${server}; run \`cairn backups init\`, or set CAIRN_MIRROR_TOKEN ` +
        'and CAIRN_MIRROR_SECRET.',
      backupExit.credential,
    );
  }
  return { server, hub: hubOf(server, pair, given !== undefined), entry };
}

/** A hub with a known token and secret. */
export function hubOf(
  server: string,
  { token, hmac_secret }: Pick<MirrorEntry, 'token' | 'hmac_secret'>,
  isFromVariable = false,
): MirrorHub {
  return new MirrorHub({
    server,
    token: async () => token,
    secret: hmac_secret,
    isFromVariable,
    attemptsMax: limits.backupAttempts,
    onWait: tellWait,
  });
}

/** Fetches the account's token with the sign-in. Where this creates the credential, its secret is stored here. */
async function tokenOfAccount({ settings, credentials, entry }: Place): Promise<string> {
  const { server } = credentials;
  let authorization: string;
  try {
    authorization = credentials.keyAuthorization();
  } catch (error) {
    if (error instanceof ClientError) throw new NotSignedIn(error.message, backupExit.credential);
    throw error;
  }
  const { token, hmac_secret } = await issueCredential(server, authorization, false);
  if (hmac_secret !== null) {
    const key = { recipients: entry?.recipients ?? [], identity_file: entry?.identity_file ?? null };
    writeMirrorEntry(settings.mirrorFile, server, { token, hmac_secret, ...key });
  }
  return token;
}

function tellWait(reason: string, seconds: number): void {
  printError(`cairn: ${reason}; trying again in ${Math.max(1, Math.round(seconds))} s`);
}

function pairOf({ mirrorToken, mirrorSecret }: ClientSettings) {
  if (mirrorSecret === undefined) return undefined;
  if (mirrorToken === undefined) {
    throw new ClientError('CAIRN_MIRROR_SECRET is set without CAIRN_MIRROR_TOKEN; set both to upload.');
  }
  return { token: mirrorToken, hmac_secret: mirrorSecret };
}

/** Recipients of the options --recipient and --recipients-file. Throws ClientError when one is invalid. */
export function recipientsOf(options: Options): readonly string[] {
  const file = options.optional('recipients-file');
  const listed = listOf(options.optional('recipient'));
  return [...listed, ...(file === undefined ? [] : readRecipients(readKeyText(file), nameOf(file)))];
}

function listOf(text = ''): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Recipients or passphrase of a push: from the options, else from CAIRN_RECIPIENTS, else the recipients stored by init. */
export function lockOf(options: Options, entry: MirrorEntry | undefined): Lock {
  const recipients = recipientsOf(options);
  const passphraseFile = options.optional('passphrase-file');
  if (recipients.length > 0 && passphraseFile !== undefined) {
    throw new UsageError('use recipients or --passphrase-file, not both');
  }
  if (passphraseFile !== undefined) return { passphrase: readPassphrase(passphraseFile) };
  if (recipients.length > 0) return { recipients };
  const ofJob = listOf(readClientSettings().recipients);
  if (ofJob.length > 0) return { recipients: ofJob };
  if (entry !== undefined && entry.recipients.length > 0) return { recipients: entry.recipients };
  throw new UsageError(
    'no encryption key: use --recipient age1…, --recipients-file FILE or --passphrase-file FILE, set CAIRN_RECIPIENTS, or run `cairn backups init`',
  );
}

/** Identity and passphrase of a restore: from the options; the identity else that of init. Each opens its own archives. */
export function unlockOf(options: Options, entry: MirrorEntry | undefined): Unlock {
  const passphraseFile = options.optional('passphrase-file');
  const passphrase = passphraseFile === undefined ? undefined : readPassphrase(passphraseFile);
  const { identityFile: usual } = readClientSettings();
  const own = entry?.identity_file ?? usual;
  // With a passphrase, the key of this machine is not needed. One that an entry names must be there otherwise.
  const isOwnNeeded = passphrase === undefined && entry?.identity_file != null;
  const isOwnThere = existsSync(own);
  const given = options.optional('identity');
  if (given === undefined && isOwnNeeded && !isOwnThere) throw keyIsGone(own, entry);
  const path = given ?? (isOwnThere ? own : undefined);
  if (path === STDIN && passphraseFile === STDIN)
    throw new UsageError('standard input is either the identity or the passphrase');
  if (path === undefined && passphrase === undefined)
    throw new UsageError(
      `no decryption key: ${own} does not exist. Pass a copy of the key file of the machine that pushed with --identity FILE, ` +
        'or --passphrase-file FILE for archives that have a passphrase',
    );
  return { identities: path === undefined ? [] : readIdentities(readKeyText(path), nameOf(path)), passphrase };
}

/** The key file that `init` made or took is not there. Which other keys decrypt is known by their public parts only. */
function keyIsGone(path: string, { recipients }: MirrorEntry): ClientError {
  const others =
    recipients.length > 1 ? 'the key file of any of them decrypts it' : 'only a copy of this file decrypts it';
  return new ClientError(
    `${path} does not exist. What this machine pushed is encrypted for ${recipients.join(', ')}: ${others}. Look where you keep ` +
      'copies and on other machines that back up for the same key, and pass it with --identity FILE. Archives that have a passphrase ' +
      'need --passphrase-file FILE instead. If no copy is left, those archives cannot be read: make a new key with ' +
      '`cairn backups init --new-key`, and push each repository again.',
    backupExit.key,
  );
}

/** The first line of a file, as age and gpg read a passphrase file. */
function readPassphrase(path: string): string {
  const [passphrase = ''] = readKeyText(path).split(/\r?\n/);
  if (passphrase === '') throw new ClientError(`${nameOf(path)} has no passphrase in its first line.`);
  return passphrase;
}

/** The path that means standard input, as everywhere in a shell. */
const STDIN = '-';

function nameOf(path: string): string {
  return path === STDIN ? 'standard input' : path;
}

/** The text of a file, or of standard input for `-`. Throws ClientError. */
export function readKeyText(path: string): string {
  try {
    return readFileSync(path === STDIN ? 0 : path, 'utf8');
  } catch (error) {
    throw new ClientError(
      `${nameOf(path)} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
    );
  }
}
