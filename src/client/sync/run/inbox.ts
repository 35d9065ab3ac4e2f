/** Applies the hub's side, path by path. A change that cannot be applied is recorded in the state with its reason. */
import { quoted } from '../../shown.ts';
import type { BaseRecord, Failed, Wait, WaitKind } from '../base/state.ts';
import { Unreadable } from '../folder/file.ts';
import type { LocalFile } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { afterFailure } from '../plan/waits.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';
import { applyRemote } from './apply.ts';
import { Spellings } from './spelling.ts';

export class Inbox {
  /** Paths changed on both sides. */
  readonly bothChanged = new Set<FolderPath>();
  readonly #step: SyncStep;
  readonly #local: Scan;
  readonly #spellings: Spellings;
  readonly #held: HeldContents;
  /** Changes whose path was blocked; a later change may clear the path. */
  readonly #blocked = new Map<FolderPath, RemoteRecord>();

  constructor(step: SyncStep, local: Scan) {
    this.#step = step;
    this.#local = local;
    this.#spellings = new Spellings(step, local);
    this.#held = new HeldContents(step, local);
  }

  take(record: RemoteRecord): void {
    const { path, side } = record;
    const { state, large } = this.#step;
    if (large.isGoing(path)) {
      // Decided after the hub has answered the upload.
      this.#step.next.due.add(path);
      return;
    }
    this.bothChanged.delete(path);
    this.#blocked.delete(path);
    if (this.#local.leavesOut(path)) {
      // The file left out keeps its spelling here, and the hub's may have changed since.
      const isNews = side === undefined ? this.#spellings.isAgreed(path) : side.sha256 !== state.base.get(path)?.sha256;
      if (!isNews) state.endWait(path);
      else if (state.waits.get(path)?.kind !== 'conflict') this.#wait(record, 'hub', this.#whyLeftOut(path));
    } else {
      const kept = this.#spellings.adoptFrom(path, side?.sha256);
      if (kept !== undefined) {
        this.#applyTo(kept, record);
        return;
      }
      this.#apply(record);
    }
    this.#spellings.forgetOthers(path);
  }

  /** Applies a change to the file that keeps another spelling here, which waits to be renamed. */
  #applyTo(kept: FolderPath, record: RemoteRecord): void {
    const { path, side } = record;
    const { state } = this.#step;
    const here = { ...record, path: kept };
    this.#apply(here);
    const isAgreed = side !== undefined && side.sha256 === state.base.get(kept)?.sha256;
    if (isAgreed && !state.waits.has(kept)) {
      this.#wait(here, 'hub', `Its name on the hub is ${quoted(path)}, and it cannot be renamed here.`);
    }
    this.#spellings.forgetOthers(kept);
  }

  /** Retries the blocked changes. */
  finish(): void {
    const again = [...this.#blocked.values()];
    this.#blocked.clear();
    for (const record of again) this.#apply(record);
  }

  #apply(record: RemoteRecord): void {
    const { path, side } = record;
    const { folder } = this.#step;
    const local = this.#local.files.get(path);
    const wasTouched = folder.touched.delete(path);
    let applied = applyRemote(this.#step, record, local);
    const bytes = applied === 'to fetch' && side !== undefined ? this.#held.find(side.sha256) : undefined;
    if (side !== undefined && bytes !== undefined) {
      applied = applyRemote(this.#step, { ...record, side: { ...side, bytes } }, local);
    }
    if (applied === 'done') {
      if (folder.touched.has(path)) noteWritten(this.#step, this.#local, path);
      if (wasTouched) folder.touched.add(path);
      return;
    }
    folder.touched.add(path);
    if (applied === 'both changed') {
      this.bothChanged.add(path);
      this.#wait(record, 'conflict', 'changed on both sides');
    } else if (applied === 'to fetch') {
      this.#wait(record, 'download', 'It is still being downloaded.', this.#step.state.waits.get(path)?.failed);
      this.#step.large.downloads.set(path, record.side?.size ?? 0);
    } else {
      this.#blocked.set(path, record);
      this.#wait(record, 'hub', applied.unwritable, afterFailure(this.#step.state.waits.get(path)?.failed, Date.now()));
    }
  }

  #wait({ path, side }: RemoteRecord, kind: WaitKind, why: string, failed?: Failed): void {
    const before = this.#step.state.waits.get(path);
    // A download that is tried again is not news: what stood in its way may still do.
    const reason = kind === 'download' && failed !== undefined ? (before?.reason ?? why) : why;
    const wait: Wait = {
      kind,
      remote: side?.sha256 ?? null,
      local: this.#local.files.get(path)?.sha256 ?? null,
      conflictId: before?.conflictId ?? null,
      reason,
      ...(failed === undefined ? {} : { failed }),
    };
    this.#step.state.wait(path, wait);
  }

  #whyLeftOut(path: FolderPath): string {
    if (this.#local.excludes(path)) return 'It is ignored here.';
    return 'A newer version is on the hub, and what has this name here cannot be synced.';
  }
}

/** Corrects a scan by what was just written or removed; the next one looks again only where that is not known. */
export function noteWritten({ folder, state }: Replica, { files }: Scan, path: FolderPath): void {
  const base = state.base.get(path);
  if (base === undefined) files.delete(path);
  else if (isSeen(base)) files.set(path, base);
  else return;
  folder.touched.delete(path);
  state.trust(path);
}

function isSeen(record: BaseRecord): record is BaseRecord & LocalFile {
  return record.seen !== undefined;
}

/** Finds contents already in this folder under another name, so that a rename on another device needs no download. */
class HeldContents {
  readonly #folder: Replica['folder'];
  readonly #local: Scan;
  #paths: ReadonlyMap<string, FolderPath> | undefined;

  constructor({ folder }: Replica, local: Scan) {
    this.#folder = folder;
    this.#local = local;
  }

  /** The bytes with a hash, read and hashed now: from a file in place, or from one just removed or replaced. */
  find(sha256: string): Buffer | undefined {
    this.#paths ??= new Map([...this.#local.files].map(([path, file]) => [file.sha256, path]));
    const path = this.#paths.get(sha256);
    const content = (path && this.#read(path)) ?? this.#folder.asides.find(sha256);
    return content?.sha256 === sha256 ? content.bytes : undefined;
  }

  #read(path: FolderPath) {
    try {
      const content = this.#folder.read(path);
      return content?.sha256 === this.#local.files.get(path)?.sha256 ? content : undefined;
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  }
}
