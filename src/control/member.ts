/** Answers what the command line asks a member of several. */
import { Refusal } from '../common/fault.ts';
import type { ControlRequest, ControlRequestOf, ControlResult, MemberReport } from './protocol.ts';

type MemberRequest = ControlRequestOf<'member.report' | 'member.hand_over' | 'member.snapshot'>;

/** True for what `runMemberControl` answers. */
export const isMemberRequest = (request: ControlRequest): request is MemberRequest =>
  request.command.startsWith('member.');

export interface MemberTools {
  readonly report: () => Promise<MemberReport>;
  /** Hands over to a member, or to whichever is first. Resolves once this one has begun to. */
  readonly handOver: (to: string | undefined) => Promise<void>;
  /** Makes a snapshot of the log. Resolves with its position. */
  readonly snapshot: () => Promise<number>;
}

/** Runs a command of a member. Throws Refusal when this hub has no log. */
export async function runMemberControl(
  member: MemberTools | undefined,
  request: MemberRequest,
): Promise<ControlResult> {
  if (member === undefined) {
    throw new Refusal({ kind: 'not_found', what: 'this hub has no other members: CAIRN_LOG is not set' });
  }
  if (request.command === 'member.report') return await member.report();
  if (request.command === 'member.snapshot') return { position: await member.snapshot() };
  await member.handOver(request.to);
  return { handed_over: request.to ?? 'the first member that is ready' };
}
