/** When a member may take over, and which errors of a log end it. Pure. */
import { ChainBroken } from '../chain.ts';
import { DamagedRecord, type RecordHead } from '../frame.ts';
import { LogGap } from '../log/log.ts';
import type { MemberIdentity } from './identity.ts';
import { STATE_SENTENCES } from './states.ts';

/** A follower waits for so many leases: its clock may run this much faster than the owner's. */
const LEASES_WAITED = 1.2;
/** An owner that serves has written more after some 10 seconds, for it renews its lease. */
const RECORDS_OF_A_START = 4;

export interface TakeOverFacts {
  /** The newest record; undefined: the log is empty. */
  readonly newest: RecordHead | undefined;
  readonly identity: MemberIdentity;
  /** How long successful reads have found nothing new. */
  readonly silentMs: number;
  readonly leaseMs: number;
  /** Seconds to wait longer than others. */
  readonly priority: number;
  /** True while the log does not have all rows of the hub that it began with. */
  readonly isPartial: boolean;
  /** Whether its disk has room for what an owner writes. */
  readonly hasRoom: boolean;
}

/** Whether a member may try to take over now, and why or why not. */
export function mayTakeOver(facts: TakeOverFacts): { readonly isDue: boolean; readonly why: string } {
  // It would end at its first write, and no other member could take over until its lease has passed.
  return facts.hasRoom ? isOwnerGone(facts) : { isDue: false, why: STATE_SENTENCES['no room'] };
}

function isOwnerGone(facts: TakeOverFacts): { readonly isDue: boolean; readonly why: string } {
  const { newest, identity, silentMs, leaseMs, priority, isPartial } = facts;
  if (newest === undefined) return { isDue: true, why: 'the log is empty' };
  if (isPartial)
    return { isDue: false, why: `the log does not have the whole hub yet: ${newest.member} is writing it` };
  if (newest.kind === 'hand-over') {
    const to = newest.note?.['to'];
    // The one that handed over lets another be first.
    const isAnybodys = to === undefined && newest.note?.['instance'] !== identity.instance;
    if (isAnybodys || to === identity.name) return { isDue: true, why: `${newest.member} handed over` };
  }
  if (newest.note?.['instance'] === identity.instance && newest.kind !== 'hand-over' && !diedYoung(newest))
    return { isDue: true, why: 'the owner was the process before this one, in this data folder' };
  const waitMs = patienceMs(newest, leaseMs) + priority * 1000;
  const silence = `${(silentMs / 1000).toFixed(1)} s`;
  if (silentMs < waitMs)
    return { isDue: false, why: `${newest.member} owns the log; its newest record was read ${silence} ago` };
  return { isDue: true, why: `${newest.member} has been silent for ${silence}` };
}

/**
 * Whether the owner wrote almost nothing since it took over. One that cannot start, as after a bad installation, would
 * take over at once after each restart, and no other member ever could.
 */
const diedYoung = ({ position, note }: RecordHead): boolean => position - Number(note?.['term']) < RECORDS_OF_A_START;

/** How long a follower waits for the next record before it takes the owner for lost, without its priority. */
const patienceMs = (newest: RecordHead, leaseMs: number): number =>
  LEASES_WAITED * Math.max(leaseMs, Number(newest.note?.['lease'] ?? 0));

/** The member that owns the log, as far as a follower can know; null: none, for it handed over or its lease is over. */
export const ownerOf = ({ newest, silentMs, leaseMs }: Pick<TakeOverFacts, 'newest' | 'silentMs' | 'leaseMs'>) =>
  newest === undefined || newest.kind === 'hand-over' || silentMs >= patienceMs(newest, leaseMs) ? null : newest.member;

/**
 * Whether the owner before may have answered writes that the log lacks, so that clients must not trust what they
 * remember: it answered before the log had them, and did not hand over. A member that owned the log itself has them all.
 */
export const isNewHistory = ({ newest, identity }: Pick<TakeOverFacts, 'newest' | 'identity'>): boolean =>
  newest !== undefined &&
  newest.kind !== 'hand-over' &&
  newest.note?.['ack'] === 'local' &&
  newest.note['instance'] !== identity.instance;

/** True when following cannot go on: the log is another one, or damaged. Anything else may end on its own. */
export const isFatal = (error: unknown): boolean =>
  error instanceof ChainBroken ||
  error instanceof DamagedRecord ||
  error instanceof LogGap ||
  (error instanceof Error && ['StartError', 'OtherIncarnation', 'BegunAgain', 'Forked'].includes(error.name));
