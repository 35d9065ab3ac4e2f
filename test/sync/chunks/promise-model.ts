/**
 * Does to a vault of large files what devices, people, retention, a full quota, a moved clock and kills do, several things at
 * once, and remembers what was answered: a chunk stays for a day, a version for as long as retention keeps it, a side of a
 * conflict while it waits. Every choice follows from the seed; what meets what does not.
 */
import { createHash } from 'node:crypto';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { Refusal } from '../../../src/common/fault.ts';
import { limits } from '../../../src/limits/service.ts';
import { fileChunks, stagedPieces } from '../../../src/sync/log/records.ts';
import { openSync, type Sync } from '../../../src/sync/service.ts';
import { chunksIn, listOf } from '../../support/large-files.ts';
import { randomOf } from '../../support/random.ts';
import { sha256Of } from '../../support/sync.ts';
import { openSyncDesk, type SyncDesk } from '../support.ts';
import { MortalStore } from './mortal-store.ts';

const WHO = 'account';
const START_MS = Date.parse('2026-11-20T12:00:00.000Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const CHUNK_BYTES = 168 * 1024;
/** Files share parts, and two portions of a decision count their chunks. */
const FILE_PARTS = 4;
const PART_CHUNKS = 17;
const PARTS = 10;
const PATHS = ['a.bin', 'b.bin'];
const WRITES_UNTIL_KILLED = [4, 20, 100];
const PASSES_MS = [0, 0, MINUTE_MS, HOUR_MS, 13 * HOUR_MS, 23 * HOUR_MS, 2 * DAY_MS, 31 * DAY_MS];
const ROOMY = 2 ** 40;

interface Life {
  readonly sync: Sync;
  readonly mortal: MortalStore;
}

/** A version that was answered, and until when it has to be kept: for ever while it is current. */
interface KeptVersion {
  readonly seq: number;
  readonly sha256: string;
  readonly storedMs: number;
}

export class PromiseModel {
  readonly seen = { crashes: 0, accepted: 0, conflicts: 0, refused: 0, settled: 0 };
  readonly #desk: SyncDesk;
  readonly #random: () => number;
  readonly #room: { tight: boolean };
  readonly #parts: readonly (readonly Buffer[])[];
  #life: Life;
  #vaultId = '';
  /** Until when each chunk was promised. */
  readonly #chunks = new Map<string, number>();
  readonly #current = new Map<string, KeptVersion>();
  readonly #pending = new Map<string, string>();

  static async open(seed: number): Promise<PromiseModel> {
    const room = { tight: false };
    const desk = await openSyncDesk(START_MS, {
      quotasOf: () => (room.tight ? { files: 1, history: ROOMY } : { files: ROOMY, history: ROOMY }),
      checkReserve: () => undefined,
      noteRefused: () => undefined,
    });
    const model = new PromiseModel(seed, desk, room);
    model.#vaultId = await desk.sync.vaults.idOf(WHO, undefined);
    await model.#restart();
    return model;
  }

  private constructor(seed: number, desk: SyncDesk, room: { tight: boolean }) {
    this.#random = randomOf(seed);
    this.#desk = desk;
    this.#room = room;
    this.#life = { sync: desk.sync, mortal: new MortalStore(desk.store) };
    this.#parts = Array.from({ length: PARTS }, () => chunksIn(this.#bytes(PART_CHUNKS * CHUNK_BYTES), CHUNK_BYTES));
  }

  /** A few things at once, then whether what was answered holds. */
  async step(): Promise<void> {
    this.#desk.clock.ms += this.#pick(PASSES_MS);
    this.#room.tight = this.#random() < 0.2;
    const isKilled = this.#random() < 0.4;
    if (isKilled) this.#life.mortal.killAfter(1 + Math.floor(this.#random() * this.#pick(WRITES_UNTIL_KILLED)));
    const what = Array.from({ length: 1 + Math.floor(this.#random() * 5) }, () => this.#begin());
    await Promise.race([Promise.all(what), this.#life.mortal.killed]);
    if (this.#life.mortal.isKilled) {
      this.seen.crashes += 1;
      await this.#restart();
      this.#verify();
    } else this.#life.mortal.killAfter(Number.POSITIVE_INFINITY);
    this.#check();
  }

  /** What `cairn verify` finds, and what was left staged. */
  problems(): string[] {
    const left = [...this.#desk.store.keys(stagedPieces)].map(([id]) => `${id} is staged still`);
    return [...this.#desk.problems(), ...left];
  }

  async close(): Promise<void> {
    await this.#life.sync.reading.close();
    await this.#desk.close();
  }

  /** As the next process opens the same file. */
  async #restart(): Promise<void> {
    const { options, store } = this.#desk;
    // Its timers end; it never comes to an end itself.
    void this.#life.sync.reading.close();
    // What was written before the kill is on disk.
    await store.write({ kind: 'sweep', id: '' }, () => undefined);
    const mortal = new MortalStore(store);
    const actors = new ActorRegistry(mortal.store);
    this.#life = { mortal, sync: await openSync({ ...options, store: mortal.store, actors }) };
  }

  #begin(): Promise<void> {
    const kinds = [
      () => this.#send(),
      () => this.#send(),
      () => this.#send(),
      () => this.#askFor(),
      () => this.#askFor(),
      () => this.#remove(),
      () => this.#remove(),
      () => this.#remove(),
      () => this.#settle(),
      () => this.#settle(),
      () => this.#sweep(),
      () => this.#clear(),
      () => this.#clear(),
      () => this.#clear(),
    ];
    return this.#pick(kinds)();
  }

  /** As a device does: it asks, sends what is missing, and pushes. Now and then it stops before the end. */
  async #send(): Promise<void> {
    const { sync } = this.#life;
    const chunks = this.#file();
    const stopsAfter = this.#random() < 0.2 ? Math.floor(this.#random() * chunks.length) : Number.POSITIVE_INFINITY;
    const missing = new Set(await this.#ask(sync, chunks));
    const left = [...new Map(chunks.map((chunk) => [sha256Of(chunk), chunk]))].filter(([name]) => missing.has(name));
    for (const [at, [name, chunk]] of left.entries()) {
      if (at >= stopsAfter) return;
      await sync.chunks.put({ accountId: WHO, vaultId: this.#vaultId }, name, Uint8Array.from(chunk));
      this.#promise(name);
    }
    if (stopsAfter < chunks.length) return;
    await this.#push(sync, chunks);
  }

  async #push(sync: Sync, chunks: readonly Buffer[]): Promise<void> {
    const path = this.#pick(PATHS);
    const sha256 = sha256Of(Buffer.concat(chunks));
    const base = this.#random() < 0.7 ? (this.#current.get(path)?.sha256 ?? '') : sha256Of('another');
    const isTight = this.#room.tight;
    const args = this.#desk.push(path, listOf(chunks), { sha256, encoding: 'chunks', base_sha: base });
    try {
      const { record } = await sync.push.push(WHO, { ...args, vault_id: this.#vaultId });
      this.seen.accepted += 1;
      this.#note(path, { seq: record.seq, sha256, storedMs: record.stored_ms });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.seen.refused += 1;
      const { fault } = error;
      if (fault.kind === 'sync_conflict') {
        this.seen.conflicts += 1;
        if (fault.conflictId !== null) this.#pending.set(fault.conflictId, path);
        return;
      }
      const isExpected =
        (fault.kind === 'quota_exceeded' && isTight) || (fault.kind === 'invalid_fields' && 'base_sha' in fault.fields);
      if (!isExpected) throw new Error(`a push of chunks that are here was refused: ${JSON.stringify(fault)}`);
    }
  }

  async #askFor(): Promise<void> {
    await this.#ask(this.#life.sync, this.#file());
  }

  async #ask(sync: Sync, chunks: readonly Buffer[]): Promise<readonly string[]> {
    const names = chunks.map((chunk) => sha256Of(chunk));
    const missing = await sync.chunks.missing({ accountId: WHO, vaultId: this.#vaultId }, names);
    for (const name of names) if (!missing.includes(name)) this.#promise(name);
    return missing;
  }

  async #remove(): Promise<void> {
    const path = this.#pick(PATHS);
    const base_sha = this.#current.get(path)?.sha256;
    if (base_sha === undefined) return;
    const gone = { path, deleted: true, base_sha, device_id: 'laptop', mustHash: true, vault_id: this.#vaultId };
    try {
      await this.#life.sync.push.push(WHO, gone);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  async #settle(): Promise<void> {
    const [conflictId] = this.#pick([...this.#pending, undefined]) ?? [];
    if (conflictId === undefined) return;
    const keep = { side: this.#pick(['yours', 'theirs', 'both'] as const) };
    try {
      const request = { conflictId, vaultId: this.#vaultId, keep, baseSha: undefined, deviceId: undefined };
      await this.#life.sync.conflicts.resolve(WHO, request);
      this.#pending.delete(conflictId);
      this.seen.settled += 1;
    } catch (error) {
      // A push of the same path has superseded it, or the quota is full.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  async #sweep(): Promise<void> {
    await this.#life.sync.retention.run();
  }

  async #clear(): Promise<void> {
    await this.#life.sync.retention.clear(this.#vaultId, 1);
  }

  /** Fails when something that was answered is gone. */
  #check(): void {
    const { store, clock, sync } = this.#desk;
    for (const [name, untilMs] of this.#chunks) {
      if (untilMs < clock.ms) this.#chunks.delete(name);
      else if (store.get(fileChunks, [this.#vaultId, name]) === undefined) {
        throw new Error(`chunk ${name} was promised until ${new Date(untilMs).toISOString()}`);
      }
    }
    const { reader } = sync;
    for (const path of PATHS) {
      const file = reader.file(this.#vaultId, path);
      const noted = this.#current.get(path);
      if (noted !== undefined && (file === undefined || file.seq < noted.seq)) throw new Error(`${path} is older`);
      if (file === undefined || file.deleted) this.#current.delete(path);
      else this.#current.set(path, { seq: file.seq, sha256: file.sha256, storedMs: file.stored_ms });
    }
    for (const id of this.#pending.keys()) {
      const isHere = reader.hasConflict(this.#vaultId, id);
      if (isHere && reader.conflict(this.#vaultId, id).record.status === 'pending') continue;
      // A push that took its place settles it, and says so; a month later it goes.
      this.#pending.delete(id);
    }
  }

  #verify(): void {
    const problems = this.#desk.problems();
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  #note(path: string, version: KeptVersion): void {
    const known = this.#current.get(path);
    if (known === undefined || known.seq < version.seq) this.#current.set(path, version);
  }

  #promise(name: string): void {
    this.#chunks.set(name, this.#desk.clock.ms + limits.looseChunkHours * HOUR_MS);
  }

  /** So many parts of all, in order. */
  #file(): Buffer[] {
    const first = Math.floor(this.#random() * (PARTS - FILE_PARTS + 1));
    return this.#parts.slice(first, first + FILE_PARTS).flat();
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #bytes(length: number): Buffer {
    const seed = String(this.#random());
    const block = (at: number) => createHash('sha512').update(`${seed} ${at}`).digest();
    return Buffer.concat(Array.from({ length: length / 64 }, (_, at) => block(at)));
  }
}
