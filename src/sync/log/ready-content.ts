/** Describes content ready for a version: hashed, and stored or ready to be stored. */
import type { Encoding } from './version.ts';
import { readVersionHead, type StoredContent, storedContentOf, versionGitSha, versionSha256 } from './version.ts';

export interface ReadyContent {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
  readonly encoding: Encoding;
  readonly stored: StoredContent;
}

/** The content of a stored version, to be shared by another version. Undefined for a tombstone. */
export function contentOfVersion(bytes: Uint8Array): ReadyContent | undefined {
  const stored = storedContentOf(bytes);
  if (stored === undefined) return undefined;
  const { encoding, sizeBytes } = readVersionHead(bytes);
  return { sha256: versionSha256(bytes), gitSha: versionGitSha(bytes), sizeBytes, encoding, stored };
}
