/** Encrypts and decrypts archives in the age format (age-encryption.org/v1), so that `age` can open them too. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient, Stanza } from 'age-encryption';
import { ClientError } from '../client-error.ts';
import { readPrivateFile } from '../private-file.ts';
import { backupExit } from './exit-codes.ts';

// Node.js 20.19 warns that X25519 in its Web Crypto API is experimental; later releases have it unchanged.
const warn = process.emitWarning.bind(process);
process.emitWarning = (warning: string | Error, ...rest: never[]) => {
  if (!String(warning).includes('X25519')) warn(warning, ...rest);
};

const READ_BYTES = 256 * 1024;

/** The recipients of an archive, or its passphrase. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };

/** The identities or the passphrase that decrypt an archive. */
export type Unlock = { readonly identities: readonly string[] } | { readonly passphrase: string };

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
 * Decrypts a file as a stream. Throws ClientError when the key is wrong; the stream fails when the bytes were changed.
 */
export async function decryptFile(path: string, unlock: Unlock): Promise<Readable> {
  const decrypter = new Decrypter();
  if ('passphrase' in unlock) decrypter.addPassphrase(unlock.passphrase);
  else for (const identity of unlock.identities) addIdentity(decrypter, identity);
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  try {
    const sealed = Readable.toWeb(file) as unknown as Parameters<typeof decrypter.decrypt>[0];
    const plain = (await decrypter.decrypt(sealed as never)) as unknown as ReadableStream<Uint8Array>;
    return Readable.fromWeb(plain);
  } catch {
    file.destroy();
    throw new ClientError(
      'this archive cannot be decrypted with this key: it was encrypted for another key, not made with age, or changed.',
      backupExit.key,
    );
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
