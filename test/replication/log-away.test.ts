/** What the command line says on each machine while a store takes requests and answers none: that is when an operator asks. */
import { afterAll, expect, test } from 'vitest';
import { type Hub, runCairn } from '../support/hub.ts';
import { memberHealth, untilState } from '../support/members.ts';
import { startMemoryBucket } from '../support/memory-bucket.ts';
import { rgwAt } from '../support/rgw.ts';
import { startRoughBucket } from '../support/rough-bucket.ts';
import { useMembers } from '../support/use-members.ts';

const { member } = useMembers();
const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
});

test('[MEMBER-3, MEMBER-8] while the log does not answer, list, why and doctor say so on the owner and on a follower, and promise no lease that is over', {
  timeout: 300_000,
}, async () => {
  const bucket = await startMemoryBucket();
  const rough = await startRoughBucket(bucket.endpoint);
  ends.push(
    () => rough.close(),
    () => bucket.close(),
  );
  const { env } = rgwAt(rough.endpoint);
  const log = 's3://logs/away';
  const owner = await member({ name: 'west', log, env });
  await untilState(owner, 'owning');
  const follower = await member({ name: 'east', log, env });
  await untilState(follower, 'following');
  rough.mischief = () => 'mute';
  const [first, second] = await Promise.all([untilState(owner, 'apart'), untilState(follower, 'apart')]);
  expect([first.owner, second.owner]).toEqual([null, 'west']);
  const said = async (hub: Hub, ...args: string[]) => await hub.cli('member', ...args);
  const listed = await Promise.all([said(owner, 'list'), said(follower, 'list')]);
  expect(listed.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(listed[0].stdout).toMatch(/serves +unknown here\n/);
  expect(listed[1].stdout).toMatch(/serves +unknown here; last known: west\n/);
  for (const { stdout } of listed) expect(stdout).toContain('The log did not answer. Check its store');
  expect((await said(owner, 'why')).stdout).toMatch(
    /cannot be reached: its newest record was written \d+ s ago, and its lease is over/,
  );
  expect((await said(follower, 'why')).stdout).not.toContain('owns the log');
  const { stdout } = await runCairn(['doctor'], { CAIRN_DATA: follower.dataFolder });
  expect(stdout).toMatch(
    /wrong +log away +the log cannot be reached \(.+\)\. Look at its store, and at the network and the clock/,
  );
  rough.mischief = () => 'none';
  rough.cutAll();
  await expect.poll(async () => (await memberHealth(owner))?.owner).toBe('west');
});
