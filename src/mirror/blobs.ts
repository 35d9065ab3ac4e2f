/** Uploads blobs, and reads them. */
import { timingSafeEqual } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { invalidField, type Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import type { Caller } from '../common/shares.ts';
import type { IncomingBody } from '../http/request/body.ts';
import type { BufferPool } from '../http/request/buffers.ts';
import { limits } from '../limits/service.ts';
import type { Digests } from '../pool/jobs.ts';
import type { Quotas } from '../quotas/quotas.ts';
import { countBytes } from '../quotas/usage.ts';
import type { Damage } from '../store/data-file/damage.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { type Blob, BlobReads } from './blob-reads.ts';
import { boundTo } from './bound.ts';
import { goneCredential, type MirrorCredentials, secretOf } from './credentials.ts';
import type { UploadedFacts } from './declared.ts';
import { archiveFactsOf, type UploadHeaders } from './fields.ts';
import { archiveOf, GroupChanges } from './groups/repositories.ts';
import { archivesIdOf, blobs, chunks, commits, credentials, heads, order, setAside } from './records.ts';
import { decidePublish } from './rules.ts';
import { UploadRoom } from './upload/room.ts';
import { StreamedUpload, type UploadTools } from './upload/streamed-upload.ts';

export interface MirrorBlobsOptions extends Omit<UploadTools, 'room'> {
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
  readonly hmacKey: Uint8Array<ArrayBuffer>;
  /** Size declared by the client. */
  readonly byteSize: number;
  readonly caller: Caller;
}

/** Bytes of a verified upload without a blob yet. */
interface VerifiedBytes {
  readonly storageId: number;
  readonly byteSize: number;
  /** Stores the bytes, within the decision that publishes them. */
  readonly store: (batch: Batch) => void;
}

/** The stored bytes of an existing blob were compared with its hash. */
interface Checked {
  /** Undefined: they are undamaged. */
  readonly damagedId: number | undefined;
}

export class MirrorBlobs extends BlobReads {
  readonly #options: MirrorBlobsOptions;
  readonly #uploadTools: UploadTools;

  constructor(options: MirrorBlobsOptions) {
    super(options);
    this.#options = options;
    this.#uploadTools = { ...options, room: new UploadRoom() };
  }

  /**
   * Receives an upload and publishes it in one durable commit. Throws Refusal `overloaded` when memory or the pool is
   * full, and `invalid_fields` when a digest differs; nothing is stored then.
   */
  upload(principal: Principal, fields: UploadHeaders, { body, bytesDeclared, caller }: Arriving): Promise<Blob> {
    if (bytesDeclared === 0) throw invalidField('body', 'the body is empty; send the tarball as the request body');
    const hmacKey = this.#options.credentials.hmacKey(principal);
    this.#checkRoom(principal, fields, bytesDeclared);
    // Before the body is read, and again in the decision.
    this.#factsIn(this.#options.store, principal, fields);
    const start: UploadStart = { hmacKey, byteSize: bytesDeclared, caller };
    return bytesDeclared <= limits.wholeUploadBytesMax
      ? this.#uploadWhole(principal, fields, body, start)
      : this.#uploadStreamed(principal, fields, body, start);
  }

  /** Checks the quota before reading the body. An existing blob needs no further room, but most uploads are new and have it. */
  #checkRoom({ accountId }: Principal, fields: UploadHeaders, byteSize: number): void {
    const { store, quotas } = this.#options;
    if (quotas.fits(store, accountId, 'blobs', byteSize)) return;
    const { 'X-Commit-Sha': commitSha, 'X-Tarball-Sha256': sha256 } = fields;
    if (store.get(blobs, [accountId, commitSha, sha256]) === undefined)
      quotas.check(store, accountId, 'blobs', byteSize);
  }

  /**
   * Returns what an upload says about its archive, with the base that the same bytes already have in its repository.
   * Throws Refusal when its base is not an archive of that repository. A blob that has a repository keeps its base.
   */
  #factsIn(reader: Pick<Reader, 'get' | 'range'>, { accountId }: Principal, fields: UploadHeaders): UploadedFacts {
    const given = archiveFactsOf(fields);
    const { 'X-Commit-Sha': commitSha, 'X-Tarball-Sha256': sha256 } = fields;
    const { repository_id: repositoryId, base_sha256: base } = given;
    if (repositoryId === null || (reader.get(blobs, [accountId, commitSha, sha256])?.repository_id ?? null) !== null)
      return given;
    const same = archiveOf(reader, accountId, repositoryId, sha256);
    if (same !== undefined) return { ...given, base_sha256: same.base_sha256 };
    if (base !== null && archiveOf(reader, accountId, repositoryId, base) === undefined) throw unknownBase();
    return given;
  }

  /** A small body is received whole, then hashed. */
  async #uploadWhole(
    principal: Principal,
    fields: UploadHeaders,
    body: IncomingBody,
    upload: UploadStart,
  ): Promise<Blob> {
    const { smallBuffers, staging, pool } = this.#options;
    const { byteSize: length, hmacKey, caller } = upload;
    const buffer = smallBuffers.take();
    try {
      const received = new Uint8Array(buffer, 0, length);
      let filled = 0;
      await body.pipe((part) => {
        received.set(part, filled);
        filled += part.length;
      });
      checkDigests(fields, await pool.bodies.of({ bytes: received, hmacKey }, caller));
      const storageId = staging.claim();
      const store = (batch: Batch) => batch.put(chunks, [storageId, 0], received);
      return await this.#publish(principal, fields, { storageId, byteSize: length, store });
    } finally {
      // On every path the store no longer uses the bytes here.
      smallBuffers.give(buffer);
    }
  }

  /** A large body is staged as it arrives. The staged bytes are removed unless the blob uses them. */
  async #uploadStreamed(
    principal: Principal,
    fields: UploadHeaders,
    body: IncomingBody,
    start: UploadStart,
  ): Promise<Blob> {
    const passOn = (bytes: number) => body.passOn(bytes);
    const onFailure = (error: Error) => body.cutOff(error);
    const { accountId } = principal;
    const upload = new StreamedUpload(this.#uploadTools, { accountId, passOn, onFailure, ...start });
    const { storageId } = upload;
    let isUsed = false;
    try {
      await body.pipe(
        (bytes) => upload.write(bytes),
        () => upload.room(),
      );
      checkDigests(fields, await upload.finish());
      const store = (batch: Batch) => {
        if (!this.#options.staging.adopt(batch, storageId)) throw new Error('staged bytes are not in the store');
      };
      const blob = await this.#publish(principal, fields, { storageId, byteSize: start.byteSize, store });
      isUsed = blob.record.storage_id === storageId;
      return blob;
    } finally {
      if (!isUsed) await upload.abandon();
    }
  }

  /** Publishes a blob. Its bytes are stored only when it is new, or heals a damaged one. */
  async #publish(principal: Principal, fields: UploadHeaders, bytes: VerifiedBytes): Promise<Blob> {
    const { accountId } = principal;
    const { 'X-Commit-Sha': commitSha, 'X-Tarball-Sha256': sha256 } = fields;
    let checked: Checked | undefined;
    let published = await this.#decide(principal, fields, bytes, checked);
    while (published === 'unchecked') {
      checked = { damagedId: await this.#damagedStorageOf(accountId, commitSha, sha256) };
      published = await this.#decide(principal, fields, bytes, checked);
    }
    const damagedId = checked?.damagedId;
    if (damagedId !== undefined && published.record.storage_id === bytes.storageId) {
      this.#options.damage.noteHealed('blob', { commit_sha: commitSha, sha256, storage_id: damagedId });
    }
    return published;
  }

  /**
   * Decides about verified bytes. `checked`: what is known of the stored bytes of a blob that exists. Without it such a
   * blob is `unchecked`, and nothing is written: a decision cannot read them all.
   */
  #decide(
    principal: Principal,
    fields: UploadHeaders,
    bytes: VerifiedBytes,
    checked: Checked | undefined,
  ): Promise<Blob | 'unchecked'> {
    const { accountId } = principal;
    const { 'X-Commit-Sha': commitSha, 'X-Tarball-Sha256': sha256 } = fields;
    const { actors, quotas, now } = this.#options;
    const damagedId = checked?.damagedId;
    return actors.account(accountId).ask((batch): Blob | 'unchecked' => {
      // Rotated while the body arrived: the signature was checked under a revoked secret.
      const current = batch.get(credentials, [accountId]);
      if (current === undefined || secretOf(batch, principal, current) === undefined) throw goneCredential();
      const existing = batch.get(blobs, [accountId, commitSha, sha256]);
      if (existing !== undefined && checked === undefined) return 'unchecked';
      const archivesId = archivesIdOf(current);
      const outcome = decidePublish({
        existing,
        damagedId,
        head: batch.get(heads, [accountId]),
        credentialId: archivesId,
        storageId: bytes.storageId,
        byteSize: bytes.byteSize,
        uploadedBy: fields['X-Uploaded-By']?.text ?? null,
        archive: this.#factsIn(batch, principal, fields),
        nowMs: now(),
      });
      const { record } = outcome;
      if (outcome.kind === 'stored') quotas.check(batch, accountId, 'blobs', bytes.byteSize);
      if (outcome.kind === 'kept') return { commitSha, sha256, record };
      const groups = new GroupChanges(batch, accountId);
      if (outcome.kind === 'rebound') {
        batch.remove(order, [accountId, outcome.former.sequence]);
        groups.remove({ commitSha, sha256 }, outcome.former);
      }
      if (record.storage_id === bytes.storageId) bytes.store(batch);
      if (outcome.kind === 'stored') countBytes(batch, accountId, 'blobs', bytes.byteSize);
      if (damagedId !== undefined && record.storage_id === bytes.storageId) {
        this.#removeChunks(batch, damagedId);
        batch.remove(setAside, [accountId, commitSha, sha256]);
      }
      batch.put(blobs, [accountId, commitSha, sha256], record);
      if (outcome.kind === 'healed') return { commitSha, sha256, record };
      batch.put(commits, [accountId, commitSha], { sha256 });
      batch.put(order, [accountId, record.sequence], { commit_sha: commitSha, sha256 });
      groups.add({ commitSha, sha256 }, record);
      groups.write();
      batch.put(heads, [accountId], {
        sequence: record.sequence,
        uploaded_at: record.uploaded_at,
        bound: { archives_id: archivesId, archives: boundTo(batch, accountId, archivesId) + 1 },
      });
      return { commitSha, sha256, record };
    });
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

/** Returns the Refusal for an increment without its base. */
function unknownBase(): Refusal {
  return invalidField(
    'X-Archive-Base',
    'X-Archive-Base is not an archive of this repository on this hub; upload a complete archive without it, or the base first',
  );
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
