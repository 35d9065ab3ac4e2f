/**
 * Encrypts and decrypts archives in the age format (age-encryption.org/v1), so that `age` can open them too. Decrypts
 * those of openssl as well.
 */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient, Stanza } from 'age-encryption';
import { ClientError } from '../client-error.ts';
import { readPrivateFile } from '../private-file.ts';
import { backupExit } from './exit-codes.ts';
import { isOfOpenssl, OPENSSL_HEAD_BYTES, opensPassphrase, opensslDecipher } from './openssl.ts';

// Node.js 20.19 warns that X25519 in its Web Crypto API is experimental; later releases have it unchanged.
const warn = process.emitWarning.bind(process);
process.emitWarning = (warning: string | Error, ...rest: never[]) => {
  if (!String(warning).includes('X25519')) warn(warning, ...rest);
};

const READ_BYTES = 256 * 1024;
/** Of the beginning, which tells how a file was encrypted. */
const HEAD_BYTES = 64;

/** The recipients of an archive, or its passphrase. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };

/** What decrypts archives: those for age recipients, and those with a passphrase. */
export interface Unlock {
  readonly identities: readonly string[];
  readonly passphrase: string | undefined;
}

/** The archive needs a passphrase, or a key, and none is given: that says nothing about the archive. */
export class NotGiven extends ClientError {
  /** What is so, without the advice to pass one. */
  readonly what: string;

  constructor(what: string, next: string) {
    super(`${what}; ${next}`, backupExit.key);
    this.what = what;
  }
}

const needsPassphrase = (how: string): NotGiven =>
  new NotGiven(
    `this archive was encrypted ${how}, not for a key`,
    'pass the file with the passphrase: --passphrase-file FILE.',
  );

const needsKey = (): NotGiven =>
  new NotGiven('this archive was encrypted for a key, not with a passphrase', 'pass the key file: --identity FILE.');

/** Creates an identity and its recipient (X25519, supported by every version of age). */
export async function makeIdentity(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/**
 * Encrypts. `note`: words for the header, readable without a key and ignored by age (an unknown stanza); a passphrase
 * allows none. Throws ClientError when a recipient is invalid.
 */
export async function encrypt(plain: Uint8Array, lock: Lock, note?: readonly string[]): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  if ('passphrase' in lock) encrypter.setPassphrase(lock.passphrase);
  else {
    for (const recipient of lock.recipients) addRecipient(encrypter, recipient);
    if (note !== undefined) encrypter.addRecipient({ wrapFileKey: () => [new Stanza([...note], new Uint8Array())] });
  }
  return await encrypter.encrypt(plain);
}

/** Checks recipients. Throws ClientError unless every one is an age recipient. */
function checkRecipients(recipients: readonly string[]): void {
  for (const recipient of recipients) addRecipient(new Encrypter(), recipient);
}

/**
 * Decrypts a file as a stream, made with age or by openssl. Throws ClientError when the key is wrong, NotGiven
 * when it takes one; the stream fails when the bytes were changed.
 */
export async function decryptFile(path: string, unlock: Unlock): Promise<Readable> {
  const head = readHead(path);
  const { identities, passphrase } = unlock;
  if (isOfOpenssl(head)) return decryptOfOpenssl(path, head, passphrase);
  const decrypter = new Decrypter();
  if (isWithPassphrase(head) && passphrase === undefined) throw needsPassphrase('with a passphrase');
  if (isForKey(head) && identities.length === 0) throw needsKey();
  if (passphrase !== undefined) decrypter.addPassphrase(passphrase);
  for (const identity of identities) addIdentity(decrypter, identity);
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  try {
    const sealed = Readable.toWeb(file) as unknown as Parameters<typeof decrypter.decrypt>[0];
    const plain = (await decrypter.decrypt(sealed as never)) as unknown as ReadableStream<Uint8Array>;
    return Readable.fromWeb(plain);
  } catch {
    file.destroy();
    throw new ClientError(refusalOf(head), backupExit.key);
  }
}

function decryptOfOpenssl(path: string, head: Buffer, passphrase: string | undefined): Readable {
  if (passphrase === undefined) throw needsPassphrase('by openssl with a passphrase');
  if (!opensPassphrase(head, passphrase)) {
    throw new ClientError(
      'this archive cannot be decrypted with this passphrase: openssl encrypted it with another one, or not with ' +
        '`-aes-256-cbc -pbkdf2` as in the manual. Save it with `cairn backups pull --encrypted`, and decrypt it with openssl.',
      backupExit.key,
    );
  }
  const file = createReadStream(path, { highWaterMark: READ_BYTES, start: OPENSSL_HEAD_BYTES });
  return pipeline(file, opensslDecipher(head, passphrase), () => undefined);
}

/** Why age did not decrypt. Only the header tells keys from passphrases; neither tells a wrong one from changed bytes. */
function refusalOf(head: Buffer): string {
  if (!isOfAge(head))
    return 'this archive was not encrypted with age or openssl. Save it with `cairn backups pull --encrypted` to examine it.';
  if (isWithPassphrase(head))
    return 'this archive cannot be decrypted with this passphrase: it was encrypted with another one, or changed.';
  return (
    'this archive cannot be decrypted with this key: it was encrypted for another key, or changed. Pass the key file of the ' +
    'machine that pushed it, or of another one of its recipients: --identity FILE.'
  );
}

const isOfAge = (head: Buffer): boolean => head.toString('latin1').startsWith('age-encryption.org/v1\n');

const isForKey = (head: Buffer): boolean => isOfAge(head) && !isWithPassphrase(head);

/** The header of an age file with a passphrase has one stanza, of this kind. */
function isWithPassphrase(head: Buffer): boolean {
  return head.toString('latin1').startsWith('age-encryption.org/v1\n-> scrypt ');
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}

/** The recipients of an age identity file. Throws ClientError when it cannot be read. */
export async function recipientsOfIdentities(path: string): Promise<string[]> {
  const identities = readIdentities(readPrivateFile(path) ?? '', path);
  return await Promise.all(identities.map((identity) => identityToRecipient(identity)));
}

/** Reads a recipients file of age: one recipient per line; `#` starts a comment. Throws ClientError. */
export function readRecipients(text: string, path: string): readonly string[] {
  const recipients = linesOf(text);
  if (recipients.length === 0) throw new ClientError(`${path} has no age recipient (a line age1…).`);
  checkRecipients(recipients);
  return recipients;
}

/** Reads an age identity file: one identity per line; `#` starts a comment. Throws ClientError when it has none. */
export function readIdentities(text: string, path: string): readonly string[] {
  const identities = linesOf(text);
  if (identities.length === 0) throw new ClientError(`${path} has no age identity (a line AGE-SECRET-KEY-1…).`);
  for (const identity of identities) addIdentity(new Decrypter(), identity);
  return identities;
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new ClientError(`${recipient.slice(0, 80)} is not an age recipient (age1…).`);
  }
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    // The line may be a secret or a mistyped one, so the message omits it.
    throw new ClientError('a line of the identity file is not an age identity (AGE-SECRET-KEY-1…).');
  }
}
