/** Defines how a watched folder stands, as a status, an editor or a prompt shows it. Pure. */
import { countWithNoun } from '../../../text/count.ts';
import type { HeldChange } from '../base/state.ts';
import type { ConflictSide } from '../plan/conflict-sides.ts';

/** Files on their way. */
export interface OnTheWay {
  readonly files: number;
  readonly bytes: number;
}

/** How a folder stands. The names are those of `cairn sync status --json`, and times are ISO 8601. */
export interface FolderStanding {
  readonly folder: string;
  /** The name of the vault; its id where no name was given. */
  readonly vault: string;
  readonly hub: string;
  readonly device: string;
  readonly pid: number;
  readonly watch_since: string;
  /** When both sides were last found equal, or as equal as they can be; null: not yet. */
  readonly last_sync: string | null;
  /** Why the hub is not reached; null while it is. */
  readonly hub_away: string | null;
  /** Another error, after which the watch tries again. */
  readonly trouble: string | null;
  readonly is_paused: boolean;
  readonly up: OnTheWay;
  readonly down: OnTheWay;
  readonly conflicts: readonly string[];
  /** What is known of the other side of each. */
  readonly conflict_sides: Readonly<Record<string, ConflictSide>>;
  /** Changes that the guard holds back, here and of the hub. */
  readonly held: Readonly<Record<string, HeldChange>>;
  readonly held_from_hub: Readonly<Record<string, HeldChange>>;
  readonly problems: Readonly<Record<string, string>>;
}

/** What matters most about a folder. */
export type WatchState =
  | 'starting'
  | 'paused'
  | 'hub away'
  | 'guard'
  | 'disk full'
  | 'conflict'
  | 'problem'
  | 'syncing'
  | 'ready';

/** True for the reason of a file that a full disk does not take. */
export function isDiskFull(reason: string): boolean {
  return reason.includes('ENOSPC') || reason.includes('EDQUOT');
}

/** The state that a prompt or an icon shows: what waits for a person comes before what passes. */
export function stateOf(standing: Omit<FolderStanding, 'pid'>): WatchState {
  const { is_paused, hub_away, trouble, conflicts, held, held_from_hub, problems, last_sync, up, down } = standing;
  const reasons = Object.values(problems);
  if (is_paused) return 'paused';
  if (Object.keys(held).length + Object.keys(held_from_hub).length > 0) return 'guard';
  if (reasons.some(isDiskFull)) return 'disk full';
  if (conflicts.length > 0) return 'conflict';
  if (hub_away !== null) return 'hub away';
  if (trouble !== null || reasons.length > 0) return 'problem';
  if (last_sync === null) return 'starting';
  return up.files + down.files > 0 ? 'syncing' : 'ready';
}

/** The exit code of `cairn sync status`: as that of a sync which finds the same. */
export function exitCodeOfStanding(standing: FolderStanding): number {
  const { conflicts, held, held_from_hub, problems, trouble } = standing;
  if (conflicts.length > 0) return 3;
  // Whatever the state is called: a hub that is away takes away no problem.
  const isListed = [held, held_from_hub, problems].some((those) => Object.keys(those).length > 0);
  return trouble !== null || isListed ? 1 : 0;
}

/** One short line for a prompt: empty while all is well. */
export function promptOf(standing: FolderStanding): string {
  const { conflicts, held, held_from_hub, problems, up, down } = standing;
  const counts = { conflict: conflicts.length, held: Object.keys({ ...held, ...held_from_hub }).length };
  const state = stateOf(standing);
  switch (state) {
    case 'ready':
      return '';
    case 'conflict':
      return countWithNoun(counts.conflict, 'conflict');
    case 'guard':
      return `${counts.held} held`;
    case 'problem':
      return `${Object.keys(problems).length} not synced`;
    case 'syncing':
      return `${up.files > 0 ? `↑${up.files}` : ''}${down.files > 0 ? `↓${down.files}` : ''}`;
    default:
      return state;
  }
}
