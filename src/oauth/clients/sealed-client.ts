/**
 * Makes the client_id of a dynamic registration (RFC 7591) out of its metadata, sealed: the hub stores nothing, so no
 * number of registrations displaces another. The id grants nothing; it only proves that the hub checked the metadata.
 */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import { oauthRefusal } from '../rules.ts';
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts';

type HandleSealer = Pick<Sealer, 'sealHandle' | 'openHandle'>;

const PURPOSE = 'oauth-client';
const PREFIX = 'ccl_';
/** Two registrations of the same metadata are two clients. */
const UNIQUE_BYTES = 8;
/** AES-SIV adds a tag of 16 bytes. */
const SEAL_BYTES = 16;
const BYTES_MIN = UNIQUE_BYTES + SEAL_BYTES + 1;
const BYTES_MAX = UNIQUE_BYTES + SEAL_BYTES + limits.clientMetadataBytesMax;
const SHAPE = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{${charsOf(BYTES_MIN)},${charsOf(BYTES_MAX)}}$`);

/** Returns a new client_id that contains the metadata. Throws Refusal `invalid_client_metadata` when it is too long. */
export function sealClient(sealer: HandleSealer, { client_name, redirect_uris }: ClientMetadata): string {
  const text = Buffer.from(JSON.stringify([client_name, ...redirect_uris]));
  if (text.length > limits.clientMetadataBytesMax) {
    const detail = `client_name and redirect_uris must have at most ${limits.clientMetadataBytesMax} bytes together; register fewer or shorter redirect URIs`;
    throw oauthRefusal('invalid_client_metadata', detail);
  }
  const sealed = sealer.sealHandle(PURPOSE, Buffer.concat([randomBytes(UNIQUE_BYTES), text]));
  return PREFIX + Buffer.from(sealed).toString('base64url');
}

/** Returns the metadata in a client_id; undefined: this hub did not make it. */
export function openClient(sealer: HandleSealer, clientId: string): ClientMetadata | undefined {
  if (!isSealedClient(clientId)) return undefined;
  let plain: Uint8Array;
  try {
    plain = sealer.openHandle(PURPOSE, Buffer.from(clientId.slice(PREFIX.length), 'base64url'));
  } catch {
    return undefined;
  }
  const [client_name, ...redirect_uris] = JSON.parse(Buffer.from(plain.subarray(UNIQUE_BYTES)).toString()) as unknown[];
  try {
    // What an earlier version allowed may be refused since.
    return readClientMetadata({ client_name, redirect_uris });
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** True for a client_id in the form of a sealed one. Those of stored registrations are shorter. */
export function isSealedClient(clientId: string): boolean {
  return SHAPE.test(clientId);
}

/** Returns a client_id as people are shown it. */
export function shownClientId(clientId: string): string {
  return isSealedClient(clientId) ? `${clientId.slice(0, limits.clientIdShownChars)}…` : clientId;
}

/** Length of bytes as base64url. */
function charsOf(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}
