/** Decides what to do with a file, from its state on the device and on the hub. Pure. */

export interface RemoteState {
  /** For a tombstone: of the deleted content. */
  readonly sha256: string;
  readonly deleted: boolean;
}

export interface DeviceState {
  /** SHA-256 of the file on the device. Undefined when the device has no such file. */
  readonly local: string | undefined;
  /** SHA-256 of the content that both had when they last agreed. Undefined when unknown. */
  readonly base: string | undefined;
}

export type Standing =
  | 'same'
  | 'pull'
  /** Push it, with the hub's current version as the base. */
  | 'push'
  /** Deleted on the device: push the deletion. */
  | 'push_delete'
  /** Deleted on the hub: delete it on the device. */
  | 'delete'
  | 'conflict';

/**
 * Compares both states. `by_history`: the base is unknown, so the result depends on whether the hub ever had the
 * device's bytes at this path.
 */
export function standingOf({ local, base }: DeviceState, remote: RemoteState | undefined): Standing | 'by_history' {
  if (local === undefined) return missingOnDevice(base, remote);
  if (remote === undefined) return 'push';
  if (remote.deleted) {
    if (base === undefined) return 'by_history';
    return base === local ? 'delete' : 'conflict';
  }
  if (local === remote.sha256) return 'same';
  if (base === undefined) return 'by_history';
  if (base === remote.sha256) return 'push';
  return base === local ? 'pull' : 'conflict';
}

/**
 * The result for `by_history`. `hubHadIt` is undefined when the search did not finish: then it is a conflict, not a
 * guess.
 */
export function standingByHistory({ deleted }: RemoteState, hubHadIt: boolean | undefined): Standing {
  if (hubHadIt === true) return deleted ? 'delete' : 'pull';
  return deleted && hubHadIt === false ? 'push' : 'conflict';
}

/**
 * The result for equal bytes with different executable bits. A bit that the hub had before is older, as with bytes:
 * pull. A bit that the hub never had was set on the device: push. An unfinished search (undefined) counts as older.
 */
export function standingOfBit(hubHadIt: boolean | undefined): Standing {
  return hubHadIt === false ? 'push' : 'pull';
}

function missingOnDevice(base: string | undefined, remote: RemoteState | undefined): Standing {
  if (remote === undefined || remote.deleted) return 'same';
  if (base === undefined) return 'pull';
  return base === remote.sha256 ? 'push_delete' : 'conflict';
}
