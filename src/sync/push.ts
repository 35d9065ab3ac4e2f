/**
 * The use case of a push: its content is hashed and put where it belongs, then one decision of the vault's actor takes it,
 * keeps it as a conflict, or refuses it. Nothing is answered before it is on disk.
 */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { type Fault, invalidField, Refusal } from '../fault.ts';
import { limits } from '../limits.ts';
import type { Pool } from '../pool/pool.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Changes } from './changes.ts';
import { digestContent } from './content.ts';
import { LogChange, type ReadyContent, type VaultScope } from './log-change.ts';
import {
  type ConflictReason,
  conflictFault,
  decideKeep,
  decidePush,
  type PushOutcome,
  type PushRequest,
  type PushState,
  settledBy,
} from './push-decision.ts';
import { checkSha256, type PushArguments, readPushHead } from './push-input.ts';
import { gatherState } from './push-state.ts';
import type { Conflict, SyncReader } from './reader.ts';
import { type ConflictKind, type ConflictRecord, conflictBytes, devices, type FileRecord } from './records.ts';
import type { PieceStaging } from './staging.ts';
import type { Vaults } from './vaults.ts';
import { inlineTail } from './version.ts';

export interface PushOptions {
  readonly actors: ActorRegistry;
  readonly pool: Pool;
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly staging: PieceStaging;
  readonly changes: Changes;
  /** 16 hex characters: the hub's node in clocks that it makes. */
  readonly nodeId: string;
  readonly quotaBytes: number;
  readonly now: () => number;
}

export interface PushResult {
  readonly vaultId: string;
  readonly status: 'created' | 'updated' | 'deleted' | 'unchanged';
  /** The current version of the path. */
  readonly record: FileRecord;
  /** Null: the path is new. */
  readonly previousHlc: string | null;
  readonly warnings: readonly string[];
}

/** Content that is ready, and its bytes when they are few enough to lie in a conflict's row. */
interface PushContent extends ReadyContent {
  readonly bytes: Uint8Array | undefined;
}

type Decided =
  | { readonly kind: 'done'; readonly result: PushResult; readonly adopted: boolean }
  | { readonly kind: 'conflict'; readonly fault: Fault; readonly adopted: boolean };

export class Push {
  readonly #options: PushOptions;

  constructor(options: PushOptions) {
    this.#options = options;
  }

  /**
   * Takes a push. Refuses with `invalid_fields`, `quota_exceeded`, `path_not_found`, or with `sync_conflict` once the
   * refused bytes are on disk.
   */
  async push(accountId: string, args: PushArguments): Promise<PushResult> {
    const { vaults, nodeId } = this.#options;
    const head = readPushHead(args);
    const { content: text, encoding = 'utf-8' } = args;
    if (text !== undefined && text.length > limits.inlineContentBytesMax) return await this.#pushLong(accountId, args);
    const content = text === undefined ? undefined : smallContent(text, encoding);
    if (content !== undefined) checkSha256(args.sha256, content);
    const vaultId = await vaults.idOf(accountId, args.vault_id);
    return settled(await this.#decide({ accountId, vaultId, nodeId }, { ...head, content }, content));
  }

  /** A long content is hashed and escaped in the pool and lies on the disk in pieces before anything is decided. */
  #pushLong(accountId: string, args: PushArguments): Promise<PushResult> {
    const { vaults, nodeId, pool, staging } = this.#options;
    const { content: text = '', encoding = 'utf-8' } = args;
    return staging.turn(async () => {
      const prepared = await pool.run('prepareContent', { text, encoding });
      if (!prepared.ok) throw invalidField(prepared.field, prepared.sentence);
      const { sha256, gitSha, sizeBytes, escaped } = prepared;
      checkSha256(args.sha256, prepared);
      const vaultId = await vaults.idOf(accountId, args.vault_id);
      const storageId = await staging.stage(escaped);
      let adopted = false;
      try {
        const stored = { kind: 'pieces' as const, storageId, escapedBytes: escaped.length };
        const content: PushContent = { sha256, gitSha, sizeBytes, encoding, stored, bytes: undefined };
        const request = { ...readPushHead(args), content };
        const decided = await this.#decide({ accountId, vaultId, nodeId }, request, content);
        adopted = decided.adopted;
        return settled(decided);
      } finally {
        if (!adopted) await staging.discard(storageId);
      }
    });
  }

  async #decide(scope: VaultScope, push: PushRequest, content: PushContent | undefined): Promise<Decided> {
    const { actors, changes } = this.#options;
    let seq = 0;
    const decided = await actors.actor(`vault:${scope.vaultId}`).ask((batch): Decided => {
      const nowMs = this.#options.now();
      const change = new LogChange(batch, this.#options.reader, scope, nowMs);
      const before = change.head.seq;
      const state = gatherState(this.#options, batch, { scope, push, change, nowMs });
      const made = this.#apply(batch, scope, { push, content, state, change });
      this.#see(batch, scope.vaultId, push.deviceId, change.head.seq, nowMs);
      if (change.head.seq > before) seq = change.head.seq;
      return made;
    });
    if (seq > 0) changes.tell(scope.vaultId, seq);
    return decided;
  }

  #apply(batch: Batch, scope: VaultScope, step: PushStep): Decided {
    const outcome = decidePush(step.push, step.state);
    switch (outcome.kind) {
      case 'refuse':
        throw new Refusal(outcome.fault);
      case 'conflict':
        return this.#keep(batch, scope, step, outcome.conflictKind, outcome.reason);
      case 'unchanged':
        return unchanged(scope, step);
      case 'accept':
        return this.#accept(batch, scope, step, outcome);
    }
  }

  #accept(batch: Batch, scope: VaultScope, step: PushStep, outcome: Extract<PushOutcome, { kind: 'accept' }>): Decided {
    const { push, content, state, change } = step;
    change.setClock(outcome.clock);
    const record = change.append({
      path: push,
      before: state.file,
      status: outcome.status,
      content,
      hlc: outcome.hubMade ? null : push.hlcText,
      deviceId: push.deviceId,
      mtime: push.mtime,
    });
    settle(step, record.seq);
    if (content?.stored.kind === 'pieces') this.#options.staging.adopt(batch, content.stored.storageId);
    change.finish();
    const previousHlc = state.file?.hlc ?? null;
    const { status, warnings } = outcome;
    return { kind: 'done', result: { vaultId: scope.vaultId, status, record, previousHlc, warnings }, adopted: true };
  }

  /** The refused bytes become a pending conflict, so that nothing that a client sent is lost. */
  #keep(batch: Batch, scope: VaultScope, step: PushStep, kind: ConflictKind, reason: ConflictReason): Decided {
    const { push, content, state, change } = step;
    const keeping = decideKeep(push, state);
    if (keeping.kind === 'refuse') throw new Refusal(keeping.fault);
    const refusal = (conflict: { id: string; kind: ConflictKind } | undefined) =>
      conflictFault(push, state, reason, conflict);
    if (keeping.kind === 'full') throw new Refusal(refusal(undefined));
    if (keeping.kind === 'known') {
      const { id, record } = keeping.conflict;
      return { kind: 'conflict', fault: refusal({ id, kind: record.kind }), adopted: false };
    }
    const conflict: Conflict = { id: `c_${randomBytes(8).toString('hex')}`, record: refusedRecord(step, kind) };
    for (const earlier of keeping.superseded) change.settle(push.folded, earlier, 'superseded', null);
    change.keep(push.folded, conflict);
    if (content?.bytes !== undefined) batch.put(conflictBytes, [scope.vaultId, conflict.id], content.bytes);
    if (content?.stored.kind === 'pieces') this.#options.staging.adopt(batch, content.stored.storageId);
    change.finish();
    return { kind: 'conflict', fault: refusal({ id: conflict.id, kind }), adopted: true };
  }

  /** Notes that a device was here, now and then. */
  #see(batch: Batch, vaultId: string, deviceId: string, seq: number, nowMs: number): void {
    const known = batch.get(devices, [vaultId, deviceId]);
    if (known !== undefined && nowMs - known.last_seen_ms < limits.deviceSeenMs) return;
    batch.put(devices, [vaultId, deviceId], {
      last_seen_ms: nowMs,
      pulled_seq: known?.pulled_seq ?? 0,
      pushed_seq: seq,
    });
  }
}

/** What the parts of one decision share. */
interface PushStep {
  readonly push: PushRequest;
  readonly content: PushContent | undefined;
  readonly state: PushState;
  readonly change: LogChange;
}

function settled(decided: Decided): PushResult {
  if (decided.kind === 'conflict') throw new Refusal(decided.fault);
  return decided.result;
}

function unchanged({ vaultId }: VaultScope, step: PushStep): Decided {
  const record = step.state.file;
  if (record === undefined) throw new Error('an unchanged push without a file');
  if (settle(step, record.seq) > 0) step.change.finish();
  const result: PushResult = { vaultId, status: 'unchanged', record, previousHlc: record.hlc, warnings: [] };
  return { kind: 'done', result, adopted: false };
}

/** Settles the conflicts that this push ends. Returns how many. */
function settle({ push, state, change }: PushStep, seq: number): number {
  const ended = settledBy(push, state.pending);
  for (const { conflict, status } of ended) change.settle(push.folded, conflict, status, seq);
  return ended.length;
}

function refusedRecord({ push, content, state }: PushStep, kind: ConflictKind): ConflictRecord {
  const { file } = state;
  const live = file !== undefined && !file.deleted ? file : undefined;
  return {
    path: push.path,
    kind,
    status: 'pending',
    device_id: push.deviceId,
    your_sha256: content?.sha256 ?? null,
    your_git_sha: content?.gitSha ?? null,
    your_hlc: push.hlcText,
    size_bytes: content?.sizeBytes ?? 0,
    encoding: content?.encoding ?? 'utf-8',
    mtime: push.mtime,
    storage_id: content?.stored.kind === 'pieces' ? content.stored.storageId : 0,
    server_seq: file?.seq ?? 0,
    server_sha256: live?.sha256 ?? null,
    server_git_sha: live?.git_sha ?? null,
    server_hlc: file?.hlc ?? null,
    base_sha: push.base.kind === 'sha' ? push.base.sha : null,
    detected_at: new Date(state.nowMs).toISOString(),
    settled_at: null,
    settled_seq: null,
  };
}

function smallContent(text: string, encoding: 'utf-8' | 'base64'): PushContent {
  const digested = digestContent({ text, encoding });
  if (!digested.ok) throw invalidField(digested.field, digested.sentence);
  const { bytes, sha256, gitSha } = digested;
  const stored = { kind: 'inline' as const, tail: inlineTail(text) };
  return { sha256, gitSha, sizeBytes: bytes.length, encoding, stored, bytes };
}
