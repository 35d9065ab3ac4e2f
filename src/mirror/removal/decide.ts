/** Decides whether archives may be removed: no chain loses a base, and no repository its newest archive. Pure. */
import type { BlobName } from '../groups/repositories.ts';

/** An archive of the affected repositories. */
export interface StoredArchive extends BlobName {
  /** Position in the account's upload order. */
  readonly sequence: number;
  /** Its repository, or `unknown`. */
  readonly group: string;
  readonly base: string | null;
}

/** The first archive that must stay, and why; undefined: all of `leaving` may go. */
export function removalRefused(
  archives: readonly StoredArchive[],
  leaving: readonly BlobName[],
): { readonly archive: BlobName; readonly because: string } | undefined {
  const names = new Set(leaving.map(nameOf));
  const staying = archives.filter((one) => !names.has(nameOf(one)));
  const newest = new Map<string, StoredArchive>();
  for (const one of archives) {
    const known = newest.get(one.group);
    if (known === undefined || known.sequence < one.sequence) newest.set(one.group, one);
  }
  for (const one of newest.values()) {
    if (names.has(nameOf(one)))
      return { archive: one, because: 'is the newest archive of its repository, which always stays' };
  }
  // The same bytes may belong to several commits: a chain needs one of them.
  const kept = new Set(staying.map(({ group, sha256 }) => `${group} ${sha256}`));
  for (const { base, group, commitSha } of staying) {
    if (base === null || kept.has(`${group} ${base}`)) continue;
    const archive = archives.find((one) => one.group === group && one.sha256 === base);
    if (archive === undefined || !names.has(nameOf(archive))) continue;
    return { archive, because: `is needed to restore the archive of commit ${commitSha}; remove that one as well` };
  }
  return undefined;
}

const nameOf = ({ commitSha, sha256 }: BlobName) => `${commitSha} ${sha256}`;
