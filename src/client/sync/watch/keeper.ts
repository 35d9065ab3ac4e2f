/** Runs the thread that keeps saves, beside a watch: answers what it asks, and hands over what a scan found. */
import { relative, sep } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { shownLine } from '../../shown.ts';
import { sideOnHub } from '../base/state.ts';
import type { SeenFile } from '../folder/file.ts';
import type { LocalFile } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Save } from '../folder/saves.ts';
import { withLostSaves } from '../plan/troubles.ts';
import type { Replica } from '../replica.ts';
import { baseOfOlder } from '../run/saves.ts';
import type { Scan } from '../scan/scan.ts';
import type { FromKeeper, KeepData, KnownSave, ToKeeper } from './keeper-messages.ts';
import { WrittenFiles } from './written.ts';

interface Hears {
  /** True for a file to which a program keeps writing. */
  readonly isRestless: (path: string) => boolean;
  /** Told once of a file of which not each save is kept, until everything was sent. */
  readonly onLost: (sentence: string) => void;
  /** Told once that the folder was scanned, and is watched by the thread, or that the thread failed. */
  readonly onReady: () => void;
}

/** What keeps saves, as the loop of the watch sees it. */
export interface KeeperThread {
  readonly send: (message: ToKeeper) => void;
  /** Resolves once it has ended. */
  readonly close: () => Promise<void>;
}

export type StartThread = (
  data: KeepData,
  heard: { readonly message: (message: FromKeeper) => void; readonly failed: (error: Error) => void },
) => KeeperThread;

export class Keeper {
  readonly #replica: Pick<Replica, 'folder' | 'state'>;
  readonly #hears: Hears;
  readonly #start: StartThread;
  readonly #told = new Set<string>();
  /** Files that differed from the hub's in the last scan. */
  #open = new Map<FolderPath, LocalFile>();
  readonly #written = new WrittenFiles();
  #thread: KeeperThread | undefined;
  #again: NodeJS.Timeout | undefined;
  /** True once the thread watches every folder. */
  #isReady = false;
  /** True while it watches not all of them. */
  #isBlind = false;
  /** True once a thread failed: a watch goes on without it. */
  #hasFailed = false;
  /** True when the thread did not look at each file that changed. */
  #isBehind = false;
  #isScanned = false;
  #hasToldReady = false;

  /** `start`: starts the thread. */
  constructor(replica: Pick<Replica, 'folder' | 'state'>, hears: Hears, start: StartThread) {
    this.#replica = replica;
    this.#hears = hears;
    this.#start = start;
    this.#begin();
  }

  /**
   * Reports a changed file by absolute path: also once the thread watches, since it may have changed before that, or in a folder that the
   * thread has not come to yet.
   */
  changed(absolute: string): void {
    const path = relative(this.#replica.folder.root.path, absolute).split(sep).join('/');
    this.#thread?.send({ type: 'changed', path, isLate: this.#isReady && !this.#isBlind });
  }

  /** Takes the files of a scan that differ from the hub's: the disk reports no change from before it was watched. */
  noteScan(scan: Scan): void {
    const { state } = this.#replica;
    const before = this.#open;
    const isFirst = !this.#isScanned;
    this.#isScanned = true;
    this.#tellReady();
    if (scan.looked === undefined) {
      this.#open = new Map();
      this.#thread?.send({ type: 'scanned', only: state.only });
    }
    const news: FolderPath[] = [];
    for (const path of scan.looked ?? scan.files.keys()) {
      const file = scan.files.get(path);
      if (file === undefined || !this.#isOpen(path, file)) {
        this.#open.delete(path);
        continue;
      }
      if (before.get(path)?.sha256 !== file.sha256) news.push(path);
      this.#open.set(path, file);
    }
    if (this.#open.size > limits.clientPushFiles) this.#forgetSent();
    if (this.#open.size === 0) this.#told.clear();
    // This many since the last scan are a checkout and not a person's edits.
    if (this.#isBehind) this.#handOver(this.#open.keys());
    else if (isFirst || news.length <= limits.clientPushFiles) this.#handOver(news);
    this.#isBehind = false;
    // Their names could not be put into NFC, so they are synced under no name; their saves are kept all the same.
    if (scan.otherForms.size > limits.clientPushFiles) return;
    for (const [path, onDisk] of scan.otherForms) {
      if (!scan.files.has(path)) this.#thread?.send({ type: 'changed', path: onDisk });
    }
  }

  /**
   * Hands files over that may be saves from before the thread watched. Of very many those that changed last: an earlier watch kept the
   * others, and at a first sync there was none.
   */
  #handOver(paths: Iterable<FolderPath>): void {
    const most = limits.clientPushFiles;
    if (this.#replica.state.cursor === null && this.#open.size > most) return;
    const changedMs = (path: FolderPath) => this.#open.get(path)?.seen.changedMs ?? 0;
    const open = [...paths].filter((path) => this.#open.has(path));
    const last = open.length > most ? open.sort((a, b) => changedMs(b) - changedMs(a)).slice(0, most) : open;
    for (const path of last) this.#thread?.send({ type: 'changed', path });
  }

  /** Takes a file that the sync wrote, which is no save. */
  noteWritten(seen: SeenFile): void {
    this.#written.note(seen);
  }

  #isOpen(path: FolderPath, { sha256 }: LocalFile): boolean {
    return this.#replica.state.base.get(path)?.sha256 !== sha256;
  }

  /** A scan of some paths does not look at what was sent since the last one of everything. */
  #forgetSent(): void {
    for (const [path, file] of this.#open) if (!this.#isOpen(path, file)) this.#open.delete(path);
  }

  async close(): Promise<void> {
    clearTimeout(this.#again);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.close();
  }

  #begin(): void {
    const { folder, state } = this.#replica;
    const data: KeepData = { root: folder.root.path, only: state.only, written: this.#written.shared };
    this.#thread = this.#start(data, {
      message: (message) => this.#hear(message),
      failed: (error) => this.#failed(error),
    });
    // What changed while there was no thread.
    this.#handOver(this.#open.keys());
  }

  #hear(message: FromKeeper): void {
    if (message.type === 'ready') {
      this.#isReady = true;
      this.#tellReady();
    } else if (message.type === 'blind') {
      const { why, remedy } = message.blind;
      this.#isBlind = true;
      this.#hears.onLost(`Saves may not be kept while a sync is under way (${why}).${remedy}`);
    } else if (message.type === 'behind') this.#isBehind = true;
    else if (message.type === 'asked') {
      const { id, path } = message;
      this.#thread?.send({ type: 'known', id, known: this.#knownOf(path as FolderPath) });
    } else if (message.type === 'kept') {
      this.#replica.folder.saves.settle(message.name, (save) => this.#baseOf(save));
    } else this.#tellOf(message.paths);
  }

  #knownOf(path: FolderPath): KnownSave {
    const { base, waits } = this.#replica.state;
    return {
      base: base.get(path)?.sha256 ?? '',
      elsewhere: sideOnHub(waits.get(path)) ?? undefined,
      isRestless: this.#hears.isRestless(path),
    };
  }

  /** The version on which a save is based; undefined: the hub has it. */
  #baseOf(save: Pick<Save, 'path' | 'sha256'>): string | undefined {
    const { base, elsewhere } = this.#knownOf(save.path);
    return save.sha256 === base || save.sha256 === elsewhere ? undefined : baseOfOlder(this.#replica, save);
  }

  #tellOf(lost: readonly string[]): void {
    for (const path of lost) {
      if (this.#told.has(path)) continue;
      this.#told.add(path);
      this.#hears.onLost(`${shownLine(path)}: ${withLostSaves()}`);
    }
  }

  #tellReady(): void {
    if (this.#hasToldReady || !(this.#isReady || this.#hasFailed) || !this.#isScanned) return;
    this.#hasToldReady = true;
    this.#hears.onReady();
  }

  /** Goes on with another thread: meanwhile each file is sent as it stands. */
  #failed({ message }: Error): void {
    if (this.#thread === undefined) return;
    this.#isReady = false;
    this.#isBlind = false;
    this.#thread = undefined;
    const seconds = limits.clientRetryMsMax / 1000;
    this.#hears.onLost(`Saves in quick succession are not kept now (${message}). Trying again in ${seconds} s.`);
    this.#hasFailed = true;
    this.#tellReady();
    this.#again = setTimeout(() => this.#begin(), limits.clientRetryMsMax).unref();
  }
}
