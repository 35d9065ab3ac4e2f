/**
 * Keeps the store of a log small while this member owns it: makes snapshots from which new members join and moments are
 * restored, and removes what no kept moment needs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { CommitLog } from '../log/log.ts';
import { makeSnapshot } from './make.ts';
import { findSnapshot, type SnapshotManifest } from './manifest.ts';
import { trimLog } from './trim.ts';

/** Where the log stands, and its newest snapshot. */
export interface SnapshotFacts {
  readonly newest: Pick<SnapshotManifest, 'incarnation' | 'position' | 'timeMs'> | undefined;
  readonly incarnation: string;
  readonly position: number;
  readonly nowMs: number;
}

/**
 * Decides whether a snapshot is due: by age, by the records that a new member would read after the newest one, or because
 * the log goes on with a restored hub.
 */
export function isSnapshotDue({ newest, incarnation, position, nowMs }: SnapshotFacts): boolean {
  if (newest === undefined || newest.incarnation !== incarnation) return true;
  if (position - newest.position >= limits.logSnapshotRecords) return true;
  return position > newest.position && nowMs - newest.timeMs >= limits.logSnapshotMs;
}

export interface LogKeeperOptions {
  readonly commitLog: CommitLog;
  readonly store: Pick<Store, 'copyTo' | 'settled'>;
  readonly folder: string;
  readonly mapBytes: number;
  /** Each second of this many days can be restored. */
  readonly keepDays: number;
  readonly incarnation: string;
  /** The newest record. */
  readonly position: () => number;
  readonly log: Log;
}

export class LogKeeper {
  readonly #options: LogKeeperOptions;
  readonly #end = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #trimmedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LogKeeperOptions) {
    this.#options = options;
  }

  /** Keeps the log until it is closed. */
  start(): void {
    void this.#loop();
  }

  /** Makes a snapshot now, after a running one. Resolves with its position. */
  async snapshot(): Promise<number> {
    return await this.#inTurn(async () => (await this.#make()).position);
  }

  /** Stops, and abandons a running snapshot. Resolves after the last write to the log. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await sleep(limits.logKeepMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#inTurn(() => this.#round()).catch(() => undefined);
    }
  }

  async #round(): Promise<void> {
    const { commitLog, keepDays, incarnation, position, log } = this.#options;
    const { signal } = this.#end;
    try {
      const newest = (await findSnapshot(commitLog))?.manifest;
      if (isSnapshotDue({ newest, incarnation, position: position(), nowMs: Date.now() })) await this.#make();
      if (performance.now() - this.#trimmedMs < limits.logTrimMs) return;
      const trimmed = await trimLog({ log: commitLog, keepDays, nowMs: Date.now(), signal });
      this.#trimmedMs = performance.now();
      if (trimmed.joined > 0) log.info(trimmed, 'member: old records of the log were joined');
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'member: the log was not cleaned up; the next round tries again');
    }
  }

  async #make(): Promise<SnapshotManifest> {
    const { commitLog, store, folder, mapBytes, log } = this.#options;
    const startMs = performance.now();
    const made = await makeSnapshot({ store, folder, mapBytes, log: commitLog, signal: this.#end.signal });
    const bytes = made.parts.reduce((sum, part) => sum + part.bytes, 0);
    log.info({ position: made.position, bytes, ms: Math.round(performance.now() - startMs) }, 'member: snapshot made');
    return made;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#running.then(run);
    this.#running = turn.catch(() => undefined);
    return turn;
  }
}
