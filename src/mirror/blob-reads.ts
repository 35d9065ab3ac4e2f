/** Reads blobs: list, latest, and the bytes of one. Read-only. */
import { KnownRows } from '../cache/rows.ts';
import { Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Damage } from '../store/data-file/damage.ts';
import type { Store } from '../store/store.ts';
import type { Key } from '../store/table.ts';
import { type BlobRecord, UNKNOWN_GROUP } from './declared.ts';
import { type BlobListQuery, isCommitSha, isSha256, type RepositoryListQuery } from './fields.ts';
import {
  archivesIdOf,
  blobs,
  commits,
  credentials,
  type DrillRecord,
  order,
  proofs,
  type RepositoryRecord,
  repositories,
  repositoryOrder,
  setAside,
} from './records.ts';
import { StoredBytes } from './stored/stored-bytes.ts';

export interface Blob {
  readonly commitSha: string;
  readonly sha256: string;
  readonly record: BlobRecord;
}

/** The archives of one repository, or those without one. */
export interface ArchiveGroup {
  /** Null: unknown. */
  readonly repositoryId: string | null;
  readonly record: RepositoryRecord;
  readonly newest: Blob;
  /** Undefined: no restore was tried. */
  readonly proof: { readonly last_drill: DrillRecord; readonly last_proven: DrillRecord | null } | undefined;
}

export interface BlobReadsOptions {
  readonly store: Store;
  readonly damage: Damage;
}

export class BlobReads {
  readonly bytes: StoredBytes;
  readonly #store: Store;
  /** SHA-256 of the newest blob of a commit. */
  readonly #newest: KnownRows<string>;
  readonly #records: KnownRows<BlobRecord>;

  constructor({ store, damage }: BlobReadsOptions) {
    this.#store = store;
    const weightMax = limits.blobRowsRememberedMax;
    this.#newest = new KnownRows(store, commits, { parts: 2, weightMax });
    this.#records = new KnownRows(store, blobs, { parts: 3, weightMax });
    this.bytes = new StoredBytes(store, damage);
  }

  /** Lists blobs newest first. Reads one more than requested, to detect a next page. */
  list(accountId: string, page: BlobListQuery): { readonly blobs: Blob[]; readonly nextBefore: number | undefined } {
    const window = {
      reverse: true,
      limit: page.limit + 1,
      ...(page.before === undefined ? {} : { beyond: page.before }),
    };
    const group = page.repository_id;
    const rows: { readonly key: Key; readonly value: { readonly commit_sha: string; readonly sha256: string } }[] =
      group === undefined
        ? this.#store.range(order, { prefix: [accountId], ...window })
        : this.#store.range(repositoryOrder, { prefix: [accountId, group], ...window });
    const shown = rows.slice(0, page.limit);
    return {
      blobs: shown.map(({ value }) => this.#blob(accountId, value.commit_sha, value.sha256)),
      nextBefore: rows.length > page.limit ? Number(shown.at(-1)?.key.at(-1)) : undefined,
    };
  }

  /** Lists the groups by the id of their repository, those of unknown repository last. Reads one more than requested. */
  groups(accountId: string, page: RepositoryListQuery): { readonly groups: ArchiveGroup[]; readonly next?: string } {
    const rows = this.#store.range(repositories, {
      prefix: [accountId],
      limit: page.limit + 1,
      ...(page.after === undefined ? {} : { beyond: page.after }),
    });
    const shown = rows.slice(0, page.limit);
    const last = shown.at(-1)?.key[1];
    return {
      groups: shown.map(({ key: [, group], value }) => this.#group(accountId, group, value)),
      ...(rows.length > page.limit && last !== undefined ? { next: last } : {}),
    };
  }

  #group(accountId: string, group: string, record: RepositoryRecord): ArchiveGroup {
    const [newest] = this.list(accountId, { limit: 1, repository_id: group }).blobs;
    if (newest === undefined) throw new Error('a repository of the mirror has no archive; run `cairn verify`');
    const proof = this.#store.get(proofs, [accountId, group]);
    return { repositoryId: group === UNKNOWN_GROUP ? null : group, record, newest, proof };
  }

  /** True when the bytes of a blob are damaged and set aside. */
  isSetAside(accountId: string, { commitSha, sha256 }: Blob): boolean {
    return this.#store.get(setAside, [accountId, commitSha, sha256]) !== undefined;
  }

  /** Returns the most recent upload not set aside, of all or of one group; undefined: none. */
  latest(accountId: string, group?: string): Blob | undefined {
    const rows =
      group === undefined
        ? this.#store.entries(order, { prefix: [accountId], reverse: true })
        : this.#store.entries(repositoryOrder, { prefix: [accountId, group], reverse: true });
    for (const { value } of rows) {
      const { commit_sha: commitSha, sha256 } = value;
      const blob = this.#blob(accountId, commitSha, sha256);
      if (!this.isSetAside(accountId, blob)) return blob;
    }
    return undefined;
  }

  /**
   * Returns the blob of a commit: the newest, or the one of `sha256`. Throws Refusal `not_found`, or
   * `blob_unverifiable` when it was signed under a credential no longer current.
   */
  find(principal: Principal, commitSha: string, sha256: string | null): Blob {
    // Created only when thrown: an error captures its stack, which costs more than all look-ups here.
    const unknown = () => new Refusal({ kind: 'not_found', what: 'blob not found' });
    if (!isCommitSha(commitSha) || (sha256 !== null && !isSha256(sha256))) throw unknown();
    const wanted = sha256?.toLowerCase() ?? this.#newestOf(principal.accountId, commitSha);
    const record = wanted === undefined ? undefined : this.#recordOf(principal.accountId, commitSha, wanted);
    if (wanted === undefined || record === undefined) throw unknown();
    const current = this.#store.get(credentials, [principal.accountId]);
    if (current === undefined || record.credential_id !== archivesIdOf(current))
      throw new Refusal({ kind: 'blob_unverifiable' });
    return { commitSha, sha256: wanted, record };
  }

  #newestOf(accountId: string, commitSha: string): string | undefined {
    const known = this.#newest.find(accountId, commitSha);
    if (known !== undefined) return known;
    const newest = this.#store.get(commits, [accountId, commitSha])?.sha256;
    if (newest !== undefined) this.#newest.keep(accountId, commitSha, newest, 1);
    return newest;
  }

  #recordOf(accountId: string, commitSha: string, sha256: string): BlobRecord | undefined {
    const name = `${commitSha} ${sha256}`;
    const known = this.#records.find(accountId, name);
    if (known !== undefined) return known;
    const record = this.#store.get(blobs, [accountId, commitSha, sha256]);
    if (record !== undefined) this.#records.keep(accountId, name, record, 1);
    return record;
  }

  #blob(accountId: string, commitSha: string, sha256: string): Blob {
    const record = this.#recordOf(accountId, commitSha, sha256);
    if (record === undefined)
      throw new Error('the order of uploads refers to a blob that does not exist; run `cairn verify`');
    return { commitSha, sha256, record };
  }
}
