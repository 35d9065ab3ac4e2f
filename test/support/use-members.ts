/** The members that the tests of a file start: they end with the file. */
import { afterAll } from 'vitest';
import type { Hub } from './hub.ts';
import { type MemberOptions, newLog, startMember, whichServes } from './members.ts';

export function useMembers() {
  const started: Hub[] = [];
  afterAll(async () => {
    for (const hub of started) await hub.kill();
  });
  /** Ends another hub with the file too. */
  const ending = (hub: Hub): Hub => {
    started.push(hub);
    return hub;
  };
  const member = async (options: MemberOptions): Promise<Hub> => ending(await startMember(options));
  /** A new log with a member, `west`, that serves. */
  const served = async (): Promise<{ readonly log: string; readonly owner: Hub }> => {
    const log = newLog();
    const owner = await member({ name: 'west', log });
    await whichServes([owner]);
    return { log, owner };
  };
  return { ending, member, served };
}
