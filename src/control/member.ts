/** Answers what the command line asks a member of several. */
import { Refusal } from '../common/fault.ts';
import type { MemberTools } from '../http/route/health.ts';
import type { ControlRequest, ControlRequestOf, ControlResult } from './protocol.ts';

type MemberRequest = ControlRequestOf<'member.report' | 'member.hand_over' | 'member.snapshot' | 'member.forget'>;

/** True for what `runMemberControl` answers. */
export const isMemberRequest = (request: ControlRequest): request is MemberRequest =>
  request.command.startsWith('member.');

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
  if (request.command === 'member.forget') {
    await member.forget(request.name);
    return { forgotten: request.name };
  }
  await member.handOver(request.to);
  return { handed_over: request.to ?? 'the first member that is ready' };
}
