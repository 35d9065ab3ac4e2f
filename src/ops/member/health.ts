/** What a member says of itself at `/health` and in the metrics, from what it has open. Pure. */
import type { MemberFigures, MemberHealth } from '../../http/route/health.ts';
import type { LogFollower } from '../../replication/members/follower.ts';
import type { MemberIdentity } from '../../replication/members/identity.ts';
import type { Owner } from '../../replication/members/owner.ts';
import { type MemberState, STATE_SENTENCES } from '../../replication/members/states.ts';
import type { LogLag } from '../../store/logged/local-log.ts';

export interface MemberParts {
  readonly identity: MemberIdentity;
  /** Set while it owns the log. */
  readonly owner: Pick<Owner, 'end' | 'lease' | 'isUnsure' | 'appends'> | undefined;
  readonly follower: Pick<LogFollower, 'state' | 'end' | 'owner' | 'last'> | undefined;
  readonly isServing: boolean;
  readonly isHandingOver: boolean;
  readonly lag: LogLag | undefined;
  /** Files of answered writes that the log never had. */
  readonly setAside: number;
}

export function healthOf(parts: MemberParts): MemberHealth {
  const { identity, owner, follower, lag, setAside } = parts;
  const { name } = identity;
  const kept = { unlogged_ms: Math.round(lag?.ms ?? 0), set_aside: setAside };
  if (owner !== undefined) {
    const state = stateOf(owner, parts);
    const { position } = owner.end;
    return {
      name,
      state,
      message: STATE_SENTENCES[state],
      position,
      behind: 0,
      owner: owner.lease.isValid ? name : null,
      ...kept,
    };
  }
  const state = follower?.state ?? 'joining';
  const position = follower?.end.position ?? 0;
  const behind = Math.max(0, (follower?.last ?? 0) - position);
  return { name, state, message: STATE_SENTENCES[state], position, behind, owner: follower?.owner ?? null, ...kept };
}

/** Why a member that took over serves, or no longer does. */
export function whyOwning({ lease }: NonNullable<MemberParts['owner']>): string {
  if (lease.isValid) return 'it has taken over, and its lease holds';
  const silence = `${Math.round(lease.silentMs() / 1000)} s`;
  return `its newest record was written ${silence} ago, and its lease is over; another member may serve`;
}

export function figuresOf(parts: MemberParts): MemberFigures {
  const { leftMs: leaseLeftMs } = parts.owner?.lease ?? { leftMs: undefined };
  return { ...healthOf(parts), leaseLeftMs, appends: parts.owner?.appends, lag: parts.lag };
}

function stateOf(
  owner: NonNullable<MemberParts['owner']>,
  { isServing, isHandingOver }: Pick<MemberParts, 'isServing' | 'isHandingOver'>,
): MemberState {
  if (isHandingOver) return 'handing over';
  if (owner.lease.isValid) return isServing ? (owner.isUnsure ? 'unsure' : 'owning') : 'taking over';
  return 'apart';
}
