/** Owns the encryption of archives: the age format (age-encryption.org/v1), so that `age` itself can open them too. */
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ClientError } from '../client-error.ts';

/** Whom an archive is for, or the passphrase that opens it. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };

/** What opens an archive. */
export type Unlock = { readonly identities: readonly string[] } | { readonly passphrase: string };

/** A new identity and its recipient, X25519: what every version of age reads. */
export async function makeIdentity(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Encrypts. Throws ClientError when a recipient is none. */
export async function encrypt(plain: Uint8Array, lock: Lock): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  if ('passphrase' in lock) encrypter.setPassphrase(lock.passphrase);
  else for (const recipient of lock.recipients) addRecipient(encrypter, recipient);
  return await encrypter.encrypt(plain);
}

/** Throws ClientError unless every recipient is one of age. */
export function checkRecipients(recipients: readonly string[]): void {
  for (const recipient of recipients) addRecipient(new Encrypter(), recipient);
}

/** Decrypts. Throws ClientError when the key is not the one, or the bytes were changed. */
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

/** The identities of an age identity file: one a line, `#` begins a comment. Throws ClientError when there is none. */
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
    // The line itself is a secret, or a slip of one: it is not shown.
    throw new ClientError('a line of the identity file is not an age identity (AGE-SECRET-KEY-1…).');
  }
}
