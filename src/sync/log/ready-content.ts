/** A content as a version can hold it: hashed, and stored or ready to be. */
import type { Encoding } from './records.ts';
import { readVersionHead, type StoredContent, storedContentOf, versionGitSha, versionSha256 } from './version.ts';

export interface ReadyContent {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
  readonly encoding: Encoding;
  readonly stored: StoredContent;
}

/** The content of a stored version, for another version that holds the same. Undefined: a tombstone. */
export function contentOfVersion(bytes: Uint8Array): ReadyContent | undefined {
  const stored = storedContentOf(bytes);
  if (stored === undefined) return undefined;
  const { encoding, sizeBytes } = readVersionHead(bytes);
  return { sha256: versionSha256(bytes), gitSha: versionGitSha(bytes), sizeBytes, encoding, stored };
}
