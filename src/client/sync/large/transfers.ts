/**
 * Brings large files over the line, one up and some down at a time, while small ones are synced as ever. What ends or fails
 * is told by a bell; the next sync of the folder saves what became of it.
 */
import { existsSync } from 'node:fs';
import { limits } from '../../../limits/service.ts';
import { ToolRefused } from '../../tool-refused.ts';
import { Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { applyRemote } from '../pull/apply.ts';
import { arrivalsOf } from '../pull/arrivals.ts';
import { readPut, settleChange, settleRefusal } from '../push/change.ts';
import { send } from '../push/send.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { SyncSession } from '../session.ts';
import { Bell } from '../watch/bell.ts';

export class LargeTransfers {
  readonly #session: SyncSession;
  readonly #ended = new AbortController();
  readonly #running = new Map<'up' | 'down', Promise<void>>();
  readonly #bell = new Bell();
  #toldMs = Date.now();
  #error: Error | undefined;

  constructor(session: SyncSession) {
    this.#session = session;
  }

  /** Begins with what is queued. */
  start(): void {
    const { uploads, downloads } = this.#session.large;
    if (uploads.size > 0) this.#run('up', () => this.#upload());
    if (downloads.size > 0) this.#run('down', () => this.#download());
  }

  /** Resolves when the folder should be synced again: some transfers ended. */
  async ended(): Promise<void> {
    await this.#bell.rung();
  }

  /** To be called before that sync. Throws what stopped a transfer. */
  takeNote(): void {
    this.#bell.silence();
    this.#fail();
  }

  /** Resolves when nothing is queued any more. Throws what stopped it. */
  async drained(): Promise<void> {
    for (this.start(); this.#running.size > 0; this.start()) {
      await Promise.all(this.#running.values());
      this.#fail();
    }
    this.#bell.silence();
  }

  /** Stops at once; what was under way is sent or asked for again by a later sync. */
  close(): void {
    this.#ended.abort();
  }

  #run(which: 'up' | 'down', work: () => Promise<void>): void {
    if (this.#running.has(which) || this.#isHalted()) return;
    const run = work()
      .catch((error: unknown) => {
        this.#error ??= error as Error;
      })
      .finally(() => {
        this.#running.delete(which);
        this.#bell.ring();
      });
    this.#running.set(which, run);
  }

  /** Closed, or the folder is paused: what is queued goes on after that. */
  #isHalted(): boolean {
    return this.#ended.signal.aborted || existsSync(this.#session.folder.own('paused'));
  }

  #fail(): void {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined && !this.#ended.signal.aborted) throw error;
  }

  /** Not after each file: a sync looks at the whole folder. */
  #tell(): void {
    if (Date.now() - this.#toldMs < limits.clientSaveMs) return;
    this.#toldMs = Date.now();
    this.#bell.ring();
  }

  async #upload(): Promise<void> {
    const { uploads, uploading } = this.#session.large;
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
    const session = this.#session;
    session.folder.root.check();
    const change = readPut(session, path);
    if (change === undefined) return;
    const startMs = performance.now();
    const bytesTotal = change.bytes;
    const filesTotal = session.large.uploads.size + 1;
    const [outcome] = await send(session, [change], {
      signal: this.#ended.signal,
      onSent: (sent, total) => {
        const bytes = Math.floor((sent / Math.max(1, total)) * bytesTotal);
        session.progress('upload', { files: 0, filesTotal, bytes, bytesTotal });
      },
    });
    session.large.upload.measure(change.bytes, performance.now() - startMs);
    if (!(outcome instanceof ToolRefused)) settleChange(session, change, outcome);
    else if (settleRefusal(session, change, outcome)) session.due.add(path);
  }

  async #download(): Promise<void> {
    const { downloads, downloading, download } = this.#session.large;
    while (downloads.size > 0 && !this.#isHalted()) {
      let bytes = 0;
      for (const [path, size] of downloads) {
        const isFull = bytes + size > download.size || downloading.size >= limits.clientPullPaths;
        if (downloading.size > 0 && isFull) break;
        downloads.delete(path);
        downloading.add(path);
        bytes += size;
      }
      const startMs = performance.now();
      try {
        const arrivals = arrivalsOf(this.#session, (record) => takeLarge(this.#session, record));
        await this.#session.hub.pullPaths([...downloading], arrivals, { brief: false, signal: this.#ended.signal });
      } finally {
        downloading.clear();
      }
      download.measure(bytes, performance.now() - startMs);
      this.#tell();
    }
  }
}

/** Takes in a long content that came by itself. The file may have changed since it was asked for. Throws RootGone. */
function takeLarge(session: SyncSession, record: RemoteRecord): void {
  const { folder, state, scanned, due } = session;
  const { path, side } = record;
  const wait = state.waits.get(path);
  // Deleted or in conflict by now.
  if (wait?.kind !== 'download') return;
  let reason = 'It changed on both sides while it was downloaded.';
  try {
    const applied = applyRemote(session, record, folder.read(path));
    if (applied === 'done') {
      const base = state.base.get(path);
      if (base?.seen === undefined) scanned?.files.delete(path);
      else scanned?.files.set(path, { sha256: base.sha256, executable: base.executable === true, seen: base.seen });
      if ((side?.sha256 ?? null) !== wait.remote) due.add(path);
      return;
    }
    if (typeof applied === 'object') reason = applied.unwritable;
    else if (applied === 'to fetch') reason = 'The hub sent no content for it.';
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    reason = error.message;
  }
  // The next sync decides.
  state.waits.set(path, { ...wait, kind: 'hub', reason });
}
