/** The use cases of blobs: upload, list, latest, and the bytes of one. */
import { timingSafeEqual } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { invalidField, Refusal } from '../fault.ts';
import type { IncomingBody } from '../http/body.ts';
import type { InflightBudget } from '../http/budget.ts';
import type { ByteSource } from '../http/reply.ts';
import { limits } from '../limits.ts';
import type { Digests } from '../pool/jobs.ts';
import type { Session } from '../session.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { goneCredential, type MirrorCredentials } from './credentials.ts';
import { type BlobRecord, blobs, chunks, commits, credentials, heads, order } from './records.ts';
import { decidePublish, isCommitSha, isSha256, type ListPage, type UploadFields } from './rules.ts';
import { StreamedUpload, type UploadTools } from './upload.ts';

export interface Blob {
  readonly commitSha: string;
  readonly sha256: string;
  readonly record: BlobRecord;
}

export interface MirrorBlobsOptions extends UploadTools {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly credentials: MirrorCredentials;
  readonly budget: InflightBudget;
  readonly now: () => number;
}

/** How the bytes of a verified upload get into the store with its rows. */
interface UploadedBytes {
  readonly storageId: number;
  readonly byteSize: number;
  /** Within the publishing decision, when the blob is new: make the bytes the blob's own. */
  adopt(batch: Batch): void;
}

export class MirrorBlobs {
  readonly #options: MirrorBlobsOptions;

  constructor(options: MirrorBlobsOptions) {
    this.#options = options;
  }

  /**
   * Takes an upload and publishes it in one durable commit. Refuses with `overloaded` before the body is read when the
   * in-flight budget is used up, with `invalid_fields` when a digest differs; then nothing is kept.
   */
  upload(session: Session, fields: UploadFields, body: IncomingBody, bytesDeclared: number): Promise<Blob> {
    if (bytesDeclared === 0) throw invalidField('body', 'the body is empty; send the tarball as the request body');
    const hmacKey = this.#options.credentials.hmacKey(session);
    const window = limits.uploadWindowChunks * limits.chunkBytes;
    const giveBack = this.#options.budget.take(Math.min(bytesDeclared, window));
    const taken =
      bytesDeclared <= limits.wholeUploadBytesMax
        ? this.#uploadWhole(session, fields, body, hmacKey)
        : this.#uploadStreamed(session, fields, body, hmacKey, bytesDeclared);
    return taken.finally(giveBack);
  }

  /** Blobs newest first; one more than asked for tells that there is a next page. */
  list(accountId: string, page: ListPage): { readonly blobs: Blob[]; readonly nextBefore: number | undefined } {
    const rows = this.#options.store.range(order, {
      prefix: [accountId],
      reverse: true,
      limit: page.limit + 1,
      ...(page.before === undefined ? {} : { beyond: page.before }),
    });
    const shown = rows.slice(0, page.limit);
    return {
      blobs: shown.map(({ value }) => this.#blob(accountId, value.commit_sha, value.sha256)),
      nextBefore: rows.length > page.limit ? shown.at(-1)?.key[1] : undefined,
    };
  }

  /** The most recent upload; undefined when there is none. */
  latest(accountId: string): Blob | undefined {
    return this.list(accountId, { limit: 1 }).blobs[0];
  }

  /**
   * The blob of a commit: the newest, or the one of `sha256`. Refuses with `not_found`, or with `blob_unverifiable`
   * when the credential it was signed under is no longer in force.
   */
  find(session: Session, commitSha: string, sha256: string | null): Blob {
    const unknown = new Refusal({ kind: 'not_found', what: 'blob not found' });
    if (!isCommitSha(commitSha) || (sha256 !== null && !isSha256(sha256))) throw unknown;
    const { store } = this.#options;
    const wanted = sha256?.toLowerCase() ?? store.get(commits, [session.accountId, commitSha])?.sha256;
    const record = wanted === undefined ? undefined : store.get(blobs, [session.accountId, commitSha, wanted]);
    if (wanted === undefined || record === undefined) throw unknown;
    if (record.credential_id !== session.credentialId) throw new Refusal({ kind: 'blob_unverifiable' });
    return { commitSha, sha256: wanted, record };
  }

  /** The bytes of a blob from `start` to `end` (exclusive), read chunk by chunk from the memory map as they are sent. */
  bytes({ record }: Blob, start: number, end: number): ByteSource {
    const { store } = this.#options;
    return {
      bytesTotal: end - start,
      read(offset) {
        const at = start + offset;
        const chunk = store.view(chunks, [record.storage_id, Math.floor(at / limits.chunkBytes)]);
        if (chunk === undefined) throw new Error('a chunk of a blob is missing; run cairn verify');
        const from = at % limits.chunkBytes;
        return chunk.subarray(from, Math.min(chunk.length, from + end - at));
      },
    };
  }

  async #uploadWhole(session: Session, fields: UploadFields, body: IncomingBody, hmacKey: Uint8Array): Promise<Blob> {
    const { pool, staging } = this.#options;
    const bytes = await body.collect();
    checkDigests(fields, await pool.run('digestWhole', { bytes, hmacKey }));
    const storageId = staging.claim();
    return this.#publish(session, fields, {
      storageId,
      byteSize: bytes.length,
      adopt: (batch) => batch.put(chunks, [storageId, 0], bytes),
    });
  }

  async #uploadStreamed(
    session: Session,
    fields: UploadFields,
    body: IncomingBody,
    hmacKey: Uint8Array,
    byteSize: number,
  ): Promise<Blob> {
    const { staging } = this.#options;
    const upload = new StreamedUpload(this.#options, session.accountId, hmacKey);
    const { storageId } = upload;
    let adopted = false;
    try {
      await body.pipe(upload);
      checkDigests(fields, await upload.finish());
      const blob = await this.#publish(session, fields, {
        storageId,
        byteSize,
        adopt: (batch) => staging.adopt(batch, storageId),
      });
      adopted = blob.record.storage_id === storageId;
      return blob;
    } finally {
      // Refused, cut off, or bytes that were here already: what was staged goes.
      if (!adopted) await upload.abandon();
    }
  }

  #publish(session: Session, fields: UploadFields, bytes: UploadedBytes): Promise<Blob> {
    const { accountId, credentialId } = session;
    const { commitSha, sha256 } = fields;
    return this.#options.actors.actor(accountId).ask((batch): Blob => {
      // Rotated while the body arrived: it was checked under a secret that no longer counts.
      if (batch.get(credentials, [accountId])?.credential_id !== credentialId) throw goneCredential();
      const outcome = decidePublish({
        existing: batch.get(blobs, [accountId, commitSha, sha256]),
        head: batch.get(heads, [accountId]),
        credentialId,
        storageId: bytes.storageId,
        byteSize: bytes.byteSize,
        uploadedBy: fields.uploadedBy,
        nowMs: this.#options.now(),
      });
      const { record } = outcome;
      if (outcome.kind === 'kept') return { commitSha, sha256, record };
      if (outcome.kind === 'stored') bytes.adopt(batch);
      else batch.remove(order, [accountId, outcome.formerSequence]);
      batch.put(blobs, [accountId, commitSha, sha256], record);
      batch.put(commits, [accountId, commitSha], { sha256 });
      batch.put(order, [accountId, record.sequence], { commit_sha: commitSha, sha256 });
      batch.put(heads, [accountId], { sequence: record.sequence, uploaded_at: record.uploaded_at });
      return { commitSha, sha256, record };
    });
  }

  #blob(accountId: string, commitSha: string, sha256: string): Blob {
    const record = this.#options.store.get(blobs, [accountId, commitSha, sha256]);
    if (record === undefined) throw new Error('the order of uploads names a blob that is not there; run cairn verify');
    return { commitSha, sha256, record };
  }
}

/** Both digests in constant time; the comparison itself tells nothing of where they differ. */
function checkDigests(fields: UploadFields, digests: Digests): void {
  if (!timingSafeEqual(digests.sha256, Buffer.from(fields.sha256, 'hex'))) {
    throw invalidField(
      'X-Tarball-Sha256',
      'X-Tarball-Sha256 differs from the SHA-256 of the body that arrived; it was corrupted on the way, so send it again',
    );
  }
  if (!timingSafeEqual(digests.hmac, fields.signature)) {
    throw invalidField(
      'X-Mirror-Signature',
      'X-Mirror-Signature does not verify: sign the exact body with the current hmac_secret',
    );
  }
}
