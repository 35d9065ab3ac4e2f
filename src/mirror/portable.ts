/**
 * Exports the blobs of an account to an archive, and imports them. The credential is not exported: an import creates a
 * new one, and blobs downloadable under the old one are downloadable under the new one.
 */
import { z } from 'zod';
import { damaged, fileOf } from '../archive/format.ts';
import {
  gitShaHex,
  type ImportTarget,
  type Instant,
  importSection,
  instantUpTo,
  sha256Hex,
} from '../archive/records.ts';
import type { ArchiveWriter, SectionWriter } from '../archive/writer.ts';
import { invalidField, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import { countBytes } from '../quotas/usage.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Snapshot } from '../store/table.ts';
import { type FreshCredential, type MirrorCredentials, putCredential } from './credentials.ts';
import { type BlobRecord, declaredBlob, UNKNOWN_GROUP } from './declared.ts';
import { GroupChanges } from './groups/repositories.ts';
import { archivesIdOf, blobs, chunks, commits, credentials, heads, order } from './records.ts';
import type { Staging } from './upload/staging.ts';

/** Replaces every credential rotated or destroyed before the export; never a valid credential id. */
const FORMER_CREDENTIAL = 'mc_former';

/** Order of the records: first whether a credential existed, then blobs in upload order; their bytes are contents. */
export const blobRecord = (instant: Instant) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('mirror'), has_credential: z.boolean() }),
    declaredBlob
      .archivedAs('blob', instant)
      .extend({ commit_sha: gitShaHex, sha256: sha256Hex, verified: z.boolean() }),
  ]);

type MirrorLine = z.infer<ReturnType<typeof blobRecord>>;
type BlobLine = Extract<MirrorLine, { type: 'blob' }>;

/** `verified`: the signature was checked under the current credential. */
export function exportMirror(
  snapshot: Snapshot,
  accountId: string,
  archive: ArchiveWriter,
  { write }: SectionWriter<MirrorLine>,
): void {
  const credential = snapshot.get(credentials, [accountId]);
  const current = credential && archivesIdOf(credential);
  const head = snapshot.get(heads, [accountId]);
  // From the blobs and not from their index, which may be damaged: the import makes a new one.
  const sent: { readonly key: [string, string, string]; readonly sequence: number }[] = [];
  for (const { key, value } of snapshot.entries(blobs, { prefix: [accountId] })) {
    sent.push({ key, sequence: value.sequence });
  }
  if (current === undefined && head === undefined && sent.length === 0) return;
  write({ type: 'mirror', has_credential: current !== undefined });
  for (const { key } of sent.sort((one, other) => one.sequence - other.sequence)) {
    const [, commit_sha, sha256] = key;
    const blob = snapshot.get(blobs, key);
    if (blob === undefined) continue;
    const { credential_id, storage_id, sequence: _, ...archived } = blob;
    if (!archive.blob(sha256, chunksOf(snapshot, storage_id))) {
      archive.noteMissing(`blob ${commit_sha} ${sha256}: its bytes are damaged`);
      continue;
    }
    const verified = credential_id === current;
    write({ type: 'blob', commit_sha, sha256, ...archived, verified });
  }
}

function* chunksOf(snapshot: Snapshot, storageId: number): Generator<Uint8Array> {
  for (const { value } of snapshot.entries(chunks, { prefix: [storageId] })) yield value;
}

export interface MirrorImportTools {
  readonly staging: Staging;
  readonly credentials: MirrorCredentials;
}

export class MirrorImport {
  /** The new credential; undefined: the archive has none. */
  credential: FreshCredential | undefined;
  readonly #target: ImportTarget;
  readonly #tools: MirrorImportTools;
  readonly #staged: number[] = [];
  /** Archives by repository and hash, and the bases that increments need: an order of uploads may have them later. */
  readonly #archives = new Set<string>();
  readonly #bases = new Set<string>();
  #sequence = 0;
  #uploadedAt = '';

  constructor(target: ImportTarget, tools: MirrorImportTools) {
    this.#target = target;
    this.#tools = tools;
  }

  async read(): Promise<void> {
    const { accountId, latestMs } = this.#target;
    let isBegun = false;
    await importSection(this.#target, 'mirror', blobRecord(instantUpTo(latestMs)), async (record, wait) => {
      if (isBegun === (record.type === 'mirror'))
        throw invalidField('type', 'the line of the mirror must be the first line, once');
      isBegun = true;
      if (record.type === 'mirror') {
        if (record.has_credential) this.credential = this.#tools.credentials.make(accountId);
        return;
      }
      if (isBack(this.#uploadedAt, record.uploaded_at))
        throw invalidField('uploaded_at', 'uploaded_at is earlier than in the previous upload');
      if (record.verified && this.credential === undefined)
        throw invalidField('verified', 'verified needs a credential, and the archive has none');
      this.#uploadedAt = record.uploaded_at;
      this.#sequence += 1;
      this.#noteChain(record);
      const storageId = await this.#stage(record);
      await wait(this.#write(record, storageId, this.#sequence));
    });
    if ([...this.#bases].some((base) => !this.#archives.has(base)))
      throw damaged(`${fileOf('mirror')}: an increment has a base_sha256 that is not an archive of its repository`);
  }

  #noteChain({ repository_id: repositoryId, sha256, base_sha256: base }: BlobLine): void {
    if (repositoryId !== null) this.#archives.add(`${repositoryId} ${sha256}`);
    if (base !== null) this.#bases.add(`${repositoryId ?? UNKNOWN_GROUP} ${base}`);
  }

  /** Within the decision that creates the account: blobs adopt the staged bytes, and the credential becomes valid. */
  publish(batch: Batch): void {
    for (const storageId of this.#staged) this.#tools.staging.adopt(batch, storageId);
    if (this.credential !== undefined) putCredential(batch, this.#target.accountId, this.credential.record);
  }

  /** Discards the staged bytes. */
  async discard(): Promise<void> {
    for (const storageId of this.#staged) await this.#tools.staging.discard(storageId);
  }

  /** Writes the bytes of a blob to disk; they stay staged until the account is created. */
  async #stage({ sha256, byte_size }: BlobLine): Promise<number> {
    const { archive, store, accountId } = this.#target;
    const { staging } = this.#tools;
    // Refused before the disk is full for all accounts.
    if (store.diskFreeBytes() < byte_size + limits.diskFreeBytesMin) throw new Refusal({ kind: 'storage_full' });
    const storageId = staging.claim();
    this.#staged.push(storageId);
    let index = 0;
    for await (const chunk of archive.blob(sha256, byte_size, limits.chunkBytes)) {
      await staging.put(storageId, accountId, index, chunk);
      index += 1;
    }
    return storageId;
  }

  #write({ commit_sha: commitSha, sha256, ...line }: BlobLine, storageId: number, sequence: number): Promise<void> {
    const { actors, accountId } = this.#target;
    const { type: _, verified, ...archived } = line;
    const credentialId = (verified ? this.credential?.record.credential_id : undefined) ?? FORMER_CREDENTIAL;
    const record: BlobRecord = {
      storage_id: storageId,
      ...archived,
      credential_id: credentialId,
      sequence,
    };
    return actors.account(accountId).ask((batch): void => {
      if (batch.get(blobs, [accountId, commitSha, sha256]) !== undefined) {
        throw invalidField('sha256', 'this commit has this blob twice');
      }
      countBytes(batch, accountId, 'blobs', record.byte_size);
      batch.put(blobs, [accountId, commitSha, sha256], record);
      batch.put(commits, [accountId, commitSha], { sha256 });
      batch.put(order, [accountId, sequence], { commit_sha: commitSha, sha256 });
      batch.put(heads, [accountId], { sequence, uploaded_at: record.uploaded_at });
      const groups = new GroupChanges(batch, accountId);
      groups.add({ commitSha, sha256 }, record);
      groups.write();
    });
  }
}

/** True when a time precedes the one before it, except after a clock that had jumped ahead was corrected. */
function isBack(before: string, at: string): boolean {
  const backMs = before === '' ? 0 : Date.parse(before) - Date.parse(at);
  return backMs > 0 && backMs <= limits.clockJumpMs;
}
