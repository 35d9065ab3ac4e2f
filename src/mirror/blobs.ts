/** Uploads blobs, and reads them. */
import { timingSafeEqual } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { invalidField } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import type { Caller } from '../common/shares.ts';
import type { IncomingBody } from '../http/request/body.ts';
import { limits } from '../limits/service.ts';
import type { BufferPool } from '../pool/buffers.ts';
import { startDigest } from '../pool/digest.ts';
import type { Digests } from '../pool/jobs.ts';
import type { Quotas } from '../quotas/quotas.ts';
import { countBytes } from '../quotas/usage.ts';
import type { Damage } from '../store/data-file/damage.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { type Blob, BlobReads } from './blob-reads.ts';
import { goneCredential, type MirrorCredentials } from './credentials.ts';
import type { UploadHeaders } from './fields.ts';
import { blobs, chunks, commits, credentials, heads, order, setAside } from './records.ts';
import { decidePublish } from './rules.ts';
import { StreamedUpload, type UploadTools } from './upload.ts';

export interface MirrorBlobsOptions extends UploadTools {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly credentials: MirrorCredentials;
  /** Buffers for whole small uploads. */
  readonly smallBuffers: BufferPool;
  readonly damage: Damage;
  readonly quotas: Quotas;
  readonly now: () => number;
}

/** An arriving body, its declared size, and its caller. */
export interface Arriving {
  readonly body: IncomingBody;
  readonly bytesDeclared: number;
  readonly caller: Caller;
}

interface UploadStart {
  readonly hmacKey: Uint8Array;
  /** Size declared by the client. */
  readonly byteSize: number;
  readonly caller: Caller;
}

/** Bytes of a verified upload without a blob yet. */
interface StagedBytes {
  readonly storageId: number;
  readonly byteSize: number;
}

export class MirrorBlobs extends BlobReads {
  readonly #options: MirrorBlobsOptions;

  constructor(options: MirrorBlobsOptions) {
    super(options);
    this.#options = options;
  }

  /**
   * Receives an upload and publishes it in one durable commit. Throws Refusal `overloaded` when memory or the pool is
   * full, and `invalid_fields` when a digest differs; nothing is stored then.
   */
  upload(principal: Principal, fields: UploadHeaders, { body, bytesDeclared, caller }: Arriving): Promise<Blob> {
    if (bytesDeclared === 0) throw invalidField('body', 'the body is empty; send the tarball as the request body');
    const hmacKey = this.#options.credentials.hmacKey(principal);
    this.#checkRoom(principal, fields, bytesDeclared);
    const start: UploadStart = { hmacKey, byteSize: bytesDeclared, caller };
    return bytesDeclared <= limits.wholeUploadBytesMax
      ? this.#uploadWhole(principal, fields, body, start)
      : this.#uploadStreamed(principal, fields, body, start);
  }

  /** Checks the quota before reading the body. An existing blob needs no further room. */
  #checkRoom({ accountId }: Principal, fields: UploadHeaders, byteSize: number): void {
    const { store, quotas } = this.#options;
    const { 'X-Commit-Sha': commitSha, 'X-Tarball-Sha256': sha256 } = fields;
    if (store.get(blobs, [accountId, commitSha, sha256]) === undefined)
      quotas.check(store, accountId, 'blobs', byteSize);
  }

  /**
   * A small body is hashed as it arrives, which is cheaper than a round trip to the pool, and its bytes and rows are
   * written together, usually in one commit. If the decision ran before the bytes were written, it is repeated.
   */
  async #uploadWhole(
    principal: Principal,
    fields: UploadHeaders,
    body: IncomingBody,
    upload: UploadStart,
  ): Promise<Blob> {
    const { smallBuffers } = this.#options;
    const buffer = smallBuffers.take();
    try {
      const digest = startDigest(upload.hmacKey);
      const bytes = new Uint8Array(buffer, 0, upload.byteSize);
      let filled = 0;
      await body.pipe((part) => {
        digest.update(part);
        bytes.set(part, filled);
        filled += part.length;
      });
      checkDigests(fields, digest.finish());
      return await this.#publishWhole(principal, fields, bytes);
    } finally {
      // On every path the store no longer uses the bytes here.
      smallBuffers.give(buffer);
    }
  }

  async #publishWhole(principal: Principal, fields: UploadHeaders, bytes: Uint8Array): Promise<Blob> {
    const { staging } = this.#options;
    const storageId = staging.claim();
    const durable = staging.put(storageId, principal.accountId, 0, bytes);
    // Awaited below on every path; this prevents an unhandled rejection until then.
    durable.catch(() => undefined);
    const publish = () => this.#publish(principal, fields, { storageId, byteSize: bytes.length });
    return await this.#adopting(
      storageId,
      async () => {
        const early = await publish();
        await durable;
        return early ?? (await publish());
      },
      async () => {
        await durable.catch(() => undefined);
        await staging.discard(storageId);
      },
    );
  }

  async #uploadStreamed(
    principal: Principal,
    fields: UploadHeaders,
    body: IncomingBody,
    start: UploadStart,
  ): Promise<Blob> {
    const passOn = (bytes: number) => body.passOn(bytes);
    const upload = new StreamedUpload(this.#options, { accountId: principal.accountId, passOn, ...start });
    const { storageId } = upload;
    return await this.#adopting(
      storageId,
      async () => {
        await body.pipe((bytes) => upload.write(bytes));
        checkDigests(fields, await upload.finish());
        return await this.#publish(principal, fields, { storageId, byteSize: start.byteSize });
      },
      () => upload.abandon(),
    );
  }

  /** Discards the staged bytes unless a blob adopted them: refused, cut off, or already stored. */
  async #adopting(
    storageId: number,
    publish: () => Promise<Blob | undefined>,
    abandon: () => Promise<void>,
  ): Promise<Blob> {
    let adopted = false;
    try {
      const blob = await publish();
      if (blob === undefined) throw new Error('staged bytes are not there to be published');
      adopted = blob.record.storage_id === storageId;
      return blob;
    } finally {
      if (!adopted) await abandon();
    }
  }

  /** Publishes a blob. Resolves with undefined, and writes nothing, when the bytes of a new blob are not stored yet. */
  async #publish(principal: Principal, fields: UploadHeaders, bytes: StagedBytes): Promise<Blob | undefined> {
    const { accountId, credentialId } = principal;
    const { 'X-Commit-Sha': commitSha, 'X-Tarball-Sha256': sha256 } = fields;
    const { actors, staging, damage, quotas, now } = this.#options;
    const damagedId = await this.#damagedStorageOf(accountId, commitSha, sha256);
    const published = await actors.account(accountId).ask((batch): Blob | undefined => {
      // Rotated while the body arrived: the signature was checked under a revoked secret.
      if (batch.get(credentials, [accountId])?.credential_id !== credentialId) throw goneCredential();
      const outcome = decidePublish({
        existing: batch.get(blobs, [accountId, commitSha, sha256]),
        damagedId,
        head: batch.get(heads, [accountId]),
        credentialId,
        storageId: bytes.storageId,
        byteSize: bytes.byteSize,
        uploadedBy: fields['X-Uploaded-By'] || null,
        nowMs: now(),
      });
      const { record } = outcome;
      if (outcome.kind === 'stored') quotas.check(batch, accountId, 'blobs', bytes.byteSize);
      if (outcome.kind === 'kept') return { commitSha, sha256, record };
      if (outcome.kind === 'rebound') batch.remove(order, [accountId, outcome.formerSequence]);
      if (record.storage_id === bytes.storageId && !staging.adopt(batch, bytes.storageId)) return undefined;
      if (outcome.kind === 'stored') countBytes(batch, accountId, 'blobs', bytes.byteSize);
      if (damagedId !== undefined && record.storage_id === bytes.storageId) {
        this.#removeChunks(batch, damagedId);
        batch.remove(setAside, [accountId, commitSha, sha256]);
      }
      batch.put(blobs, [accountId, commitSha, sha256], record);
      if (outcome.kind === 'healed') return { commitSha, sha256, record };
      batch.put(commits, [accountId, commitSha], { sha256 });
      batch.put(order, [accountId, record.sequence], { commit_sha: commitSha, sha256 });
      batch.put(heads, [accountId], { sequence: record.sequence, uploaded_at: record.uploaded_at });
      return { commitSha, sha256, record };
    });
    if (damagedId !== undefined && published?.record.storage_id === bytes.storageId) {
      damage.noteHealed('blob', { commit_sha: commitSha, sha256, storage_id: damagedId });
    }
    return published;
  }

  /** Resolves with the storage id of an existing blob with damaged bytes; undefined: no blob, or undamaged. */
  async #damagedStorageOf(accountId: string, commitSha: string, sha256: string): Promise<number | undefined> {
    const record = this.#options.store.get(blobs, [accountId, commitSha, sha256]);
    if (record === undefined || (await this.bytes.isWhole({ commitSha, sha256, record }))) return undefined;
    return record.storage_id;
  }

  #removeChunks(batch: Batch, storageId: number): void {
    for (const key of batch.keys(chunks, [storageId])) batch.remove(chunks, key);
  }
}

/** Compares both digests in constant time, which does not reveal the position of a difference. */
function checkDigests(fields: UploadHeaders, digests: Digests): void {
  if (!timingSafeEqual(digests.sha256, Buffer.from(fields['X-Tarball-Sha256'], 'hex'))) {
    throw invalidField(
      'X-Tarball-Sha256',
      'X-Tarball-Sha256 differs from the SHA-256 of the body that arrived; it was corrupted on the way, so send it again',
    );
  }
  if (!timingSafeEqual(digests.hmac, fields['X-Mirror-Signature'])) {
    throw invalidField(
      'X-Mirror-Signature',
      'X-Mirror-Signature does not verify: sign the exact body with the current hmac_secret',
    );
  }
}
