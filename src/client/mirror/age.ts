/** Encrypts and decrypts archives in the age format (age-encryption.org/v1), so that `age` can open them too. */
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ClientError } from '../client-error.ts';

// Node.js 20.19 warns that X25519 in its Web Crypto API is experimental; later releases have it unchanged.
const warn = process.emitWarning.bind(process);
process.emitWarning = (warning: string | Error, ...rest: never[]) => {
  if (!String(warning).includes('X25519')) warn(warning, ...rest);
};

/** The recipients of an archive, or its passphrase. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };

/** The identities or the passphrase that decrypt an archive. */
export type Unlock = { readonly identities: readonly string[] } | { readonly passphrase: string };

/** Creates an identity and its recipient (X25519, supported by every version of age). */
export async function makeIdentity(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Encrypts. Throws ClientError when a recipient is invalid. */
export async function encrypt(plain: Uint8Array, lock: Lock): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  if ('passphrase' in lock) encrypter.setPassphrase(lock.passphrase);
  else for (const recipient of lock.recipients) addRecipient(encrypter, recipient);
  return await encrypter.encrypt(plain);
}

/** Checks recipients. Throws ClientError unless every one is an age recipient. */
export function checkRecipients(recipients: readonly string[]): void {
  for (const recipient of recipients) addRecipient(new Encrypter(), recipient);
}

/** Decrypts. Throws ClientError when the key is wrong or the bytes were changed. */
export async function decrypt(sealed: Uint8Array, unlock: Unlock): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  if ('passphrase' in unlock) decrypter.addPassphrase(unlock.passphrase);
  else for (const identity of unlock.identities) addIdentity(decrypter, identity);
  try {
    return await decrypter.decrypt(sealed);
  } catch {
    throw new ClientError(
      'this archive cannot be decrypted with this key: it was encrypted for another key, not made with age, or changed.',
    );
  }
}

/** Reads an age identity file: one identity per line; `#` starts a comment. Throws ClientError when it has none. */
export function readIdentities(text: string, path: string): readonly string[] {
  const identities = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0) throw new ClientError(`${path} has no age identity (a line AGE-SECRET-KEY-1…).`);
  for (const identity of identities) addIdentity(new Decrypter(), identity);
  return identities;
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
