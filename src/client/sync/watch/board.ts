/** Keeps how a watched folder stands, from what its watch learns. */
import { existsSync } from 'node:fs';
import type { Amount } from '../amount.ts';
import { conflictsOf, heldFromHub } from '../base/state.ts';
import { conflictSidesOf } from '../plan/conflict-sides.ts';
import { withLostSaves } from '../plan/troubles.ts';
import type { Replica } from '../replica.ts';
import type { Round } from '../round.ts';
import type { FolderStanding, OnTheWay } from './standing.ts';

const NOTHING: OnTheWay = { files: 0, bytes: 0 };

type Found = Pick<Round, 'troubles' | 'held'>;

export class StandingBoard {
  readonly #replica: Replica;
  readonly #since = new Date();
  #found: Found = { troubles: new Map(), held: new Map() };
  #lastSync: Date | undefined;
  #away: string | undefined;
  #trouble: string | undefined;
  readonly #moving = { upload: NOTHING, download: NOTHING };

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /** Notes how far a transfer is. One that moves says that the hub is back, long before that sync comes to its end. */
  moved(transfer: 'upload' | 'download', { files, filesTotal, bytes, bytesTotal }: Amount): void {
    if (files > 0 || bytes > 0) this.#away = undefined;
    this.#moving[transfer] = { files: Math.max(0, filesTotal - files), bytes: Math.max(0, bytesTotal - bytes) };
  }

  /** Notes that a sync came to its end. */
  synced(round: Found): void {
    this.#found = round;
    this.#lastSync = new Date();
    this.#away = undefined;
    this.#trouble = undefined;
    Object.assign(this.#moving, { upload: NOTHING, download: NOTHING });
  }

  /** Notes that a sync failed, and why. */
  failed(reason: string, isAway: boolean): void {
    if (isAway) this.#away = reason;
    else this.#trouble = reason;
  }

  now(): FolderStanding {
    const { folder, state, large } = this.#replica;
    const { upload, download } = this.#moving;
    const waiting = [...large.downloads.values()];
    return {
      folder: folder.root.path,
      vault: state.vault_name ?? state.vault_id,
      hub: state.server,
      device: state.device_id,
      pid: process.pid,
      watch_since: this.#since.toISOString(),
      last_sync: this.#lastSync?.toISOString() ?? null,
      hub_away: this.#away ?? null,
      trouble: this.#trouble ?? null,
      is_paused: existsSync(folder.own('paused')),
      up: { ...upload, files: upload.files + folder.large.waiting + large.uploads.size + large.uploading.size },
      down: {
        files: download.files + waiting.length + large.downloading.size,
        bytes: download.bytes + waiting.reduce((sum, one) => sum + one, 0),
      },
      conflicts: conflictsOf(state),
      conflict_sides: conflictSidesOf(state),
      held: Object.fromEntries(this.#found.held),
      held_from_hub: Object.fromEntries(heldFromHub(state)),
      problems: Object.fromEntries(this.#problems()),
    };
  }

  /** Also the saves that were lost since the last sync: it may be long ago while the hub is away. */
  #problems(): ReadonlyMap<string, string> {
    const found = new Map(this.#found.troubles);
    for (const path of this.#replica.folder.saves.lost()) if (!found.has(path)) found.set(path, withLostSaves());
    return found;
  }
}
