/** Owns how a file of a device stands to the one of the hub, and what is to be done about it. Pure. */

/** What the hub has of a path. */
export interface RemoteState {
  /** Of a tombstone: of what was deleted. */
  readonly sha256: string;
  readonly deleted: boolean;
}

export interface DeviceState {
  /** SHA-256 of the file on the device; undefined: it has none. */
  readonly local: string | undefined;
  /** SHA-256 of what both had when they last agreed; undefined: unknown. */
  readonly base: string | undefined;
}

export type Standing =
  /** Nothing to do. */
  | 'same'
  | 'pull'
  /** Send it; `sync_push` builds on what the hub has now. */
  | 'push'
  /** It was deleted on the device: push the deletion. */
  | 'push_delete'
  /** It was deleted on the hub: delete it on the device. */
  | 'delete'
  | 'conflict';

/** `by_history`: the base is unknown, so it depends on whether the hub ever had the device's bytes at this path. */
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

/** What `by_history` comes to. `hubHadIt`: undefined when that could not be found out, which is nobody's to guess. */
export function standingByHistory({ deleted }: RemoteState, hubHadIt: boolean | undefined): Standing {
  if (hubHadIt === true) return deleted ? 'delete' : 'pull';
  return deleted && hubHadIt === false ? 'push' : 'conflict';
}

/**
 * The same bytes with another executable bit. What the hub had before is older, as it is with bytes; a bit that it never
 * had was set on the device.
 */
export function standingOfBit(hubHadIt: boolean | undefined): Standing {
  return hubHadIt === false ? 'push' : 'pull';
}

function missingOnDevice(base: string | undefined, remote: RemoteState | undefined): Standing {
  if (remote === undefined || remote.deleted) return 'same';
  if (base === undefined) return 'pull';
  return base === remote.sha256 ? 'push_delete' : 'conflict';
}
