/**
 * Transfers large files, one up and several down at a time, and hashes those that changed, while small files are synced as
 * usual. A bell rings when one is done or fails; the next sync of the folder saves the result.
 */
import { existsSync } from 'node:fs';
import { isChunked } from '../../../limits/large-file.ts';
import { limits } from '../../../limits/service.ts';
import { foldCase } from '../../../text/fold-case.ts';
import { ToolRefused } from '../../tool-refused.ts';
import type { CallHow } from '../../tools.ts';
import { type FetchHow, fetchLarge } from '../chunks/fetch-large.ts';
import { ChangedMeanwhile } from '../chunks/send-chunks.ts';
import { isWhole, Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { checkDiskRoom } from '../folder/room.ts';
import { Unwritable } from '../folder/unwritable.ts';
import type { PushedFile } from '../hub.ts';
import { afterFailure, backoffMs } from '../plan/waits.ts';
import type { RemoteRecord } from '../remote-record.ts';
import { compareNext, newRound, type Round, type SyncStep, withFindings } from '../round.ts';
import type { Scan } from '../scan/scan.ts';
import { applyRemote, plannedAction } from './apply.ts';
import { arrivalsOf } from './arrivals.ts';
import { Bell } from './bell.ts';
import { type Change, readPut, settleChange, settleRefusal } from './change.ts';
import { noteWritten } from './inbox.ts';
import { sendParcels } from './send.ts';

/** What goes on beside the syncs, each one after another. */
type Lane = 'up' | 'down' | 'hash';

/** Failures of a lane in a row, the last of them, and when it is tried again (milliseconds since 1970). */
interface Failure {
  readonly inRow: number;
  readonly error: Error;
  readonly untilMs: number;
}

export class LargeTransfers {
  /** Its next round is what the transfers find out beside the sync that may be under way. */
  #step: SyncStep;
  readonly #ended = new AbortController();
  readonly #running = new Map<Lane, Promise<void>>();
  readonly #bell = new Bell();
  #toldMs = Date.now();
  /** Until something of the lane is done again, or nothing of it is wanted. */
  readonly #failures = new Map<Lane, Failure>();

  constructor(step: SyncStep) {
    this.#step = step;
  }

  /** Notes the last scan of the folder, which a finished download corrects. */
  follow(scan: Scan): void {
    this.#step.next.scan = scan;
  }

  /** The round with what was found out since the last call. */
  reportTo(round: Round): Round {
    const { scan, ...found } = this.#step.next;
    const after = withFindings(round, found);
    this.#step = { ...this.#step, next: { ...newRound(), scan, sends: new Map(after.sends) } };
    return after;
  }

  /** True when a path has to be compared with the hub. */
  get hasDue(): boolean {
    return this.#step.next.due.size > 0;
  }

  /** Starts what waits and is not under way; a lane that failed, once its pause is over. */
  start(): void {
    this.#run('hash', () => this.#hash());
    this.#run('up', () => this.#upload());
    this.#run('down', () => this.#download());
  }

  /** Call after a sync, which queues what is wanted: what failed may be wanted no longer, such as a file that was deleted. */
  forgetUnwanted(): void {
    for (const lane of this.#failures.keys()) {
      if (!this.#isWanted(lane) && !this.#running.has(lane)) this.#failures.delete(lane);
    }
  }

  /** The error that stopped a lane. */
  get failing(): Error | undefined {
    return this.#firstAgain()?.error;
  }

  /** Tries again without the rest of the pauses. */
  tryAgain(): void {
    this.#failures.clear();
  }

  /** When the first lane that failed is tried again (milliseconds since 1970); 0 when none did. */
  get restsUntilMs(): number {
    return this.#firstAgain()?.untilMs ?? 0;
  }

  #firstAgain(): Failure | undefined {
    const [first] = [...this.#failures.values()].sort((one, other) => one.untilMs - other.untilMs);
    return first;
  }

  #isWanted(lane: Lane): boolean {
    const { folder, large } = this.#step;
    return { up: large.uploads.size, down: large.downloads.size, hash: folder.large.waiting }[lane] > 0;
  }

  /** Resolves when transfers ended, so that the folder should be synced again. */
  async ended(): Promise<void> {
    await this.#bell.rung();
  }

  /** Call before that sync. True when there is something to save or to tell. */
  takeNote(): boolean {
    const { isRung } = this.#bell;
    this.#bell.silence();
    return isRung;
  }

  /** Resolves when the queue is empty. Throws the error that stopped a transfer. */
  async drained(): Promise<void> {
    for (this.start(); this.#running.size > 0; this.start()) {
      await Promise.all(this.#running.values());
      if (this.failing !== undefined && !this.#ended.signal.aborted) throw this.failing;
    }
    this.#bell.silence();
  }

  /** Stops immediately; unfinished transfers are repeated by a later sync. */
  close(): void {
    this.#ended.abort();
  }

  #run(which: Lane, work: () => Promise<void>): void {
    const { inRow = 0, untilMs = 0 } = this.#failures.get(which) ?? {};
    if (!this.#isWanted(which) || this.#running.has(which) || Date.now() < untilMs || this.#isHalted()) return;
    const run = work()
      .catch((error: unknown) => {
        const failed = this.#failures.has(which) ? inRow + 1 : 1;
        this.#failures.set(which, {
          inRow: failed,
          error: error as Error,
          untilMs: Date.now() + backoffMs(failed - 1),
        });
      })
      .finally(() => {
        this.#running.delete(which);
        this.#bell.ring();
      });
    this.#running.set(which, run);
  }

  /** True when closed or while the folder is paused; the queue continues afterwards. */
  #isHalted(): boolean {
    return this.#ended.signal.aborted || existsSync(this.#step.folder.own('paused'));
  }

  /** Rings at intervals and not after each file, since a sync scans the whole folder. */
  #tell(): void {
    if (Date.now() - this.#toldMs < limits.clientSaveMs) return;
    this.#toldMs = Date.now();
    this.#bell.ring();
  }

  async #hash(): Promise<void> {
    await this.#step.folder.large.hashWanted({
      signal: this.#ended.signal,
      onHashed: () => {
        this.#failures.delete('hash');
        this.#tell();
        return !this.#isHalted();
      },
    });
  }

  async #upload(): Promise<void> {
    const { uploads, uploading } = this.#step.large;
    for (const path of uploads) {
      if (this.#isHalted()) return;
      uploads.delete(path);
      uploading.add(path);
      try {
        await this.#uploadOne(path);
      } finally {
        uploading.delete(path);
      }
      this.#tell();
    }
  }

  async #uploadOne(path: FolderPath): Promise<void> {
    const { folder, large, progress } = this.#step;
    folder.root.check();
    const change = readPut(this.#step, path);
    if (change === undefined) return;
    const startMs = performance.now();
    const bytesTotal = change.bytes;
    const filesTotal = large.uploads.size + 1;
    const outcome = await this.#send(change, {
      signal: this.#ended.signal,
      onSent: (sent, total) => {
        const bytes = Math.floor((sent / Math.max(1, total)) * bytesTotal);
        progress('upload', { files: 0, filesTotal, bytes, bytesTotal });
      },
    });
    if (outcome === 'changed') return;
    this.#failures.delete('up');
    // Parts of what is large travel in requests of their own.
    if (change.content?.bytes !== undefined) large.upload.measure(change.bytes, performance.now() - startMs);
    if (!(outcome instanceof ToolRefused)) settleChange(this.#step, change, outcome);
    else if (await settleRefusal(this.#step, change, outcome)) this.#step.next.due.add(path);
  }

  /** `changed`: the file is compared again by the next sync. */
  async #send(change: Change, how: CallHow): Promise<PushedFile | ToolRefused | undefined | 'changed'> {
    const { path, content } = change;
    try {
      const [outcome] = await sendParcels(this.#step, [change], how);
      if (content === undefined || isWhole(content)) return outcome;
      if (outcome instanceof ToolRefused) this.#step.large.offered.add(content.sha256);
      else this.#step.folder.large.forgetChunks(content.sha256);
      return outcome;
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      this.#step.folder.touched.add(path);
      this.#step.next.due.add(path);
      return 'changed';
    }
  }

  async #download(): Promise<void> {
    const { downloads, downloading, download } = this.#step.large;
    while (downloads.size > 0 && !this.#isHalted()) {
      let bytes = 0;
      const small = [...downloads].filter(([, size]) => !isChunked(size));
      if (small.length === 0) {
        await this.#downloadLarge();
        continue;
      }
      for (const [path, size] of small) {
        const isFull = bytes + size > download.size || downloading.size >= limits.clientPullPaths;
        if (downloading.size > 0 && isFull) break;
        downloads.delete(path);
        downloading.add(path);
        bytes += size;
      }
      const startMs = performance.now();
      try {
        // The hub answers in its own spelling of a name.
        const asked = new Map([...downloading].map((path) => [foldCase(path), path]));
        const arrivals = arrivalsOf(this.#step, (record) =>
          takeLarge(this.#step, record, asked.get(foldCase(record.path)) ?? record.path),
        );
        await this.#step.hub.pullPaths([...downloading], arrivals, { brief: false, signal: this.#ended.signal });
      } finally {
        downloading.clear();
      }
      this.#failures.delete('down');
      download.measure(bytes, performance.now() - startMs);
      this.#tell();
    }
  }

  /** Downloads the first file of the queue in chunks, and applies it. */
  async #downloadLarge(): Promise<void> {
    const { hub, large, progress } = this.#step;
    const [[path, bytesTotal] = []] = large.downloads;
    if (path === undefined || bytesTotal === undefined) return;
    large.downloads.delete(path);
    large.downloading.add(path);
    try {
      if (!(await this.#hasRoom(path, bytesTotal))) return;
      const found: RemoteRecord[] = [];
      const arrivals = arrivalsOf(this.#step, (record) => found.push(record));
      const { signal } = this.#ended;
      await hub.pullPaths([path], { ...arrivals, progress: () => undefined }, { brief: false, signal });
      const onBytes = (bytes: number) => progress('download', { files: 0, filesTotal: 1, bytes, bytesTotal });
      for (const record of found) await takeInChunks(this.#step, record, path, { signal, onBytes });
    } finally {
      large.downloading.delete(path);
    }
    this.#failures.delete('down');
    this.#tell();
  }

  /** Looks before the hub is asked for the list of chunks: a disk stays full for long. */
  async #hasRoom(path: FolderPath, bytesTotal: number): Promise<boolean> {
    const { folder, state } = this.#step;
    const sha256 = state.waits.get(path)?.remote;
    if (typeof sha256 !== 'string') return true;
    try {
      await checkDiskRoom(folder.partOf(sha256), bytesTotal);
      return true;
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      failDownload(this.#step, path, error.message);
      return false;
    }
  }
}

/** Brings the bytes of a file that is wanted here, then applies it like any other. */
async function takeInChunks(step: SyncStep, record: RemoteRecord, path: FolderPath, how: FetchHow): Promise<void> {
  const { folder, state } = step;
  const named = { ...record, path };
  let whole: RemoteRecord = named;
  try {
    const isWanted = state.waits.get(path)?.kind === 'download';
    if (isWanted && plannedAction(state, named, folder.read(path)) === 'fetch') {
      whole = await fetchLarge(step, named, how);
    }
  } catch (error) {
    if (!(error instanceof Unwritable || error instanceof Unreadable)) throw error;
    failDownload(step, path, error.message);
    return;
  }
  takeLarge(step, { ...whole, path: record.path }, path);
}

/** Notes why a download did not come to be; it is tried again after a pause. */
function failDownload({ state }: SyncStep, path: FolderPath, reason: string): void {
  const wait = state.waits.get(path);
  if (wait === undefined) return;
  state.wait(path, { ...wait, kind: 'hub', reason, failed: afterFailure(wait.failed, Date.now()) });
}

/**
 * Applies a long content after its download, to the file with the spelling `path`, which may have changed since the
 * request. Throws RootGone.
 */
function takeLarge(step: SyncStep, record: RemoteRecord, path: FolderPath): void {
  const { folder, state } = step;
  const { scan } = step.next;
  const { side } = record;
  const wait = state.waits.get(path);
  // Deleted or in conflict since the request.
  if (wait?.kind !== 'download') return;
  let reason = 'It changed on both sides while it was downloaded.';
  try {
    const applied = applyRemote(step, { ...record, path }, folder.read(path));
    if (applied === 'done') {
      if (scan !== undefined) noteWritten(step, scan, path);
      if ((side?.sha256 ?? null) !== wait.remote || path !== record.path) compareNext(step, path);
      return;
    }
    if (typeof applied === 'object') reason = applied.unwritable;
    else if (applied === 'to fetch') reason = 'The hub sent no content for it.';
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    reason = error.message;
  }
  // The next sync decides.
  failDownload(step, path, reason);
}
