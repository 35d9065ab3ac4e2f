/** Opens the hub, the credential and the encryption key of the mirror commands. */
import { readFileSync } from 'node:fs';
import { ClientError } from '../../client/client-error.ts';
import { type Lock, readIdentities, type Unlock } from '../../client/mirror/age.ts';
import { type MirrorEntry, readMirrorEntry } from '../../client/mirror/file.ts';
import { MirrorHub } from '../../client/mirror/hub.ts';
import { type ClientSettings, readClientSettings } from '../../client/settings.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import type { Options } from '../command.ts';
import { UsageError } from '../usage-error.ts';

export interface MirrorAccess {
  readonly server: string;
  readonly hub: MirrorHub;
  /** Entry stored by `cairn mirror init`; undefined when the environment provides the credential, as in CI. */
  readonly entry: MirrorEntry | undefined;
}

/**
 * The mirror of a hub, with the credential from CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET, else the one stored by
 * init. Throws ClientError.
 */
export function openMirror(serverOption: string | undefined): MirrorAccess {
  const settings = readClientSettings();
  const { server } = new Credentials(settings, serverOption);
  const entry = readMirrorEntry(settings.mirrorFile, server);
  const credential = credentialOf(settings) ?? entry;
  if (credential === undefined) {
    throw new ClientError(
      `this machine has no mirror credential of ${server}; run \`cairn mirror init\`, or set CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET.`,
    );
  }
  return { server, hub: new MirrorHub(server, credential), entry };
}

function credentialOf({ mirrorToken, mirrorSecret }: ClientSettings) {
  if (mirrorToken === undefined && mirrorSecret === undefined) return undefined;
  if (mirrorToken === undefined || mirrorSecret === undefined) {
    throw new ClientError('CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET must be set together.');
  }
  return { token: mirrorToken, hmac_secret: mirrorSecret };
}

/** Recipients or passphrase of a push: from the options, else the recipients stored by init. */
export function lockOf(options: Options, entry: MirrorEntry | undefined): Lock {
  const recipients = splitRecipients(options.optional('recipient'));
  const passphraseFile = options.optional('passphrase-file');
  if (recipients.length > 0 && passphraseFile !== undefined) {
    throw new UsageError('use --recipient or --passphrase-file, not both');
  }
  if (passphraseFile !== undefined) return { passphrase: readPassphrase(passphraseFile) };
  if (recipients.length > 0) return { recipients };
  if (entry !== undefined && entry.recipients.length > 0) return { recipients: entry.recipients };
  throw new UsageError(
    'no encryption key: use --recipient age1… or --passphrase-file FILE, or run `cairn mirror init`',
  );
}

/** Identity or passphrase of a pull: from the options, else the identity created by init. */
export function unlockOf(options: Options, entry: MirrorEntry | undefined): Unlock {
  const identityFile = options.optional('identity');
  const passphraseFile = options.optional('passphrase-file');
  if (identityFile !== undefined && passphraseFile !== undefined) {
    throw new UsageError('use --identity or --passphrase-file, not both');
  }
  if (passphraseFile !== undefined) return { passphrase: readPassphrase(passphraseFile) };
  const path = identityFile ?? entry?.identity_file ?? undefined;
  if (path === undefined) throw new UsageError('no decryption key: use --identity FILE or --passphrase-file FILE');
  return { identities: readIdentities(readText(path), path) };
}

export function splitRecipients(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The first line of a file, as age and gpg read a passphrase file. */
function readPassphrase(path: string): string {
  const [passphrase = ''] = readText(path).split(/\r?\n/);
  if (passphrase === '') throw new ClientError(`${path} has no passphrase in its first line.`);
  return passphrase;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ClientError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
}
