/** Members that could not take over: the operators are told, and they are handed nothing. One that is gone for good is forgotten. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Hub, runCairn } from '../support/hub.ts';
import { canSetClocks, memberHealth, ProcessClock, untilState, whichServes } from '../support/members.ts';
import { until } from '../support/mirror-state.ts';
import { canUnshare, onSmallDisk } from '../support/small-disk.ts';
import { useMembers } from '../support/use-members.ts';

const PATIENCE_MS = 240_000;
/** A member is away after three signs that it missed. */
const AWAY_MS = 60_000;
const { member, served } = useMembers();

/** Waits until a member that serves tells its operators of these, in this order, and of nothing else. */
async function untilTold(owner: Hub, ...names: string[]): Promise<void> {
  await until(
    `the owner tells ${JSON.stringify(names)}`,
    async () => {
      const answer = await fetch(`${owner.url}/ready`);
      const { checks } = (await answer.json()) as { checks: { name: string }[] };
      const told = [answer.status, ...checks.map(({ name }) => name)];
      return JSON.stringify(told) === JSON.stringify([200, ...names]) ? true : undefined;
    },
    AWAY_MS,
  );
}

/** What `cairn doctor` says of a member. */
async function findings({ dataFolder }: Hub): Promise<(readonly [check: string, level: string, text: string])[]> {
  const { stdout } = await runCairn(['doctor', '--json'], { CAIRN_DATA: dataFolder });
  const found = JSON.parse(stdout).findings as { check: string; level: string; text: string }[];
  return found.map(({ check, level, text }) => [check, level, text] as const);
}

/** The objects of the log that have this in their name. */
const partsOf = (log: string, part: string): string[] =>
  readdirSync(log, { recursive: true }).flatMap((path) => (String(path).includes(part) ? [String(path)] : []));

const listed = async (hub: Hub): Promise<string[]> =>
  JSON.parse((await hub.cli('member', 'list', '--json')).stdout).members;

test('[MEMBER-8] a member that was removed or left its log is forgotten at once, and handed nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner } = await served();
  const [east, north] = [await member({ name: 'east', log }), await member({ name: 'north', log })];
  await Promise.all([untilState(east, 'following'), untilState(north, 'following')]);
  await north.kill();
  await untilTold(owner, 'member_away');
  // As the manual runs it: without the settings of the service.
  const [ofOwner, ofFollower] = await Promise.all([owner, east].map(findings));
  expect(ofOwner).toContainEqual(['member away', 'wrong', expect.stringContaining('could not take over')]);
  expect(ofFollower).toContainEqual(['member', 'note', expect.stringContaining('another one serves')]);
  for (const found of [ofOwner, ofFollower]) {
    expect(found).toContainEqual(['settings', 'ok', expect.stringContaining('those of the running hub')]);
    expect(found).toContainEqual(['data', 'ok', 'the data file matches this master key']);
  }
  for (const [name, why] of [
    ['west', 'west serves'],
    ['nowhere', 'there is no member nowhere; the members are east, north, west'],
  ] as const) {
    const refused = await owner.cli('member', 'forget', name);
    expect([name, refused.code, refused.stderr]).toEqual([name, 1, expect.stringContaining(why)]);
  }
  expect((await east.cli('member', 'forget', 'east')).stderr).toContain('east is this member');
  // The one that serves hears of it with its next look.
  expect(await east.cli('member', 'forget', 'north')).toMatchObject({ code: 0, stderr: '' });
  await untilTold(owner);
  expect(await listed(owner)).toEqual(['east', 'west']);
  expect((await owner.cli('member', 'hand-over', '--to', 'north')).stderr).toContain('there is no member north');
  await east.stop();
  const environment = { CAIRN_DATA: east.dataFolder, CAIRN_LOG: `file://${log}`, CAIRN_MASTER_KEY: '5a'.repeat(32) };
  const left = await runCairn(['member', 'leave'], environment);
  expect(left).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('have forgotten east') });
  expect(await listed(owner)).toEqual(['west']);
  // One that runs after all is a member again.
  const again = await member({ name: 'north', log, dataFolder: north.dataFolder });
  await untilState(again, 'following');
  expect(await listed(owner)).toEqual(['north', 'west']);
  await Promise.all([owner.kill(), again.kill()]);
});

test('[MEMBER-8] a member that ends right after it joined is told as away: whoever joins leaves a sign of life first', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner } = await served();
  const starting = member({ name: 'north', log });
  starting.catch(() => undefined);
  await until('it has joined', () => partsOf(log, 'members/north/')[0]);
  expect(partsOf(log, 'alive/north/')).toHaveLength(1);
  await (await starting).kill();
  await untilTold(owner, 'member_away');
  await owner.kill();
});

test.runIf(canSetClocks)(
  '[MEMBER-8] a member with a clock days behind is told as away when it is, and one that was away for days is forgotten',
  { timeout: PATIENCE_MS },
  async () => {
    const { log, owner } = await served();
    const clock = new ProcessClock();
    clock.set(-8 * 86_400);
    const north = await member({ name: 'north', log, clock });
    await untilState(north, 'following');
    // The owner may not have looked before the first sign, whose age is all that it knows then. It sees the next one come.
    const [first] = partsOf(log, 'alive/north/');
    await until('a second sign', () => partsOf(log, 'alive/north/').find((sign) => sign !== first));
    await north.kill();
    await untilTold(owner, 'member_away');
    expect(await listed(owner)).toEqual(['north', 'west']);
    // To the next owner its last sign is eight days old.
    await owner.kill();
    const again = await member({ name: 'west', log, dataFolder: owner.dataFolder });
    await whichServes([again]);
    await until('it is forgotten', async () => ((await listed(again)).length === 1 ? true : undefined), AWAY_MS);
    await untilTold(again);
    expect((await again.cli('member', 'hand-over', '--to', 'north')).stderr).toContain('there is no member north');
    await again.kill();
  },
);

test.runIf(canUnshare)(
  '[MEMBER-8] the operators are told of a member without room and of one that gives no sign of life, and neither is handed the log',
  { timeout: PATIENCE_MS },
  async () => {
    const { log, owner } = await served();
    const small = await member({ name: 'east', log, wrapper: onSmallDisk(20) });
    await untilState(small, 'no room');
    const other = await member({ name: 'north', log });
    await untilState(other, 'following');
    await untilTold(owner, 'member_no_room');
    expect(await findings(owner)).toContainEqual(['member no room', 'wrong', expect.stringContaining('nearly full')]);
    const toSmall = await owner.cli('member', 'hand-over', '--to', 'east');
    expect([toSmall.code, toSmall.stderr]).toEqual([
      1,
      expect.stringContaining('east could not take over: its disk is nearly full'),
    ]);
    await other.kill();
    await untilTold(owner, 'member_away', 'member_no_room');
    const toAway = await owner.cli('member', 'hand-over', '--to', 'north');
    expect([toAway.code, toAway.stderr]).toEqual([
      1,
      expect.stringContaining('north could not take over: it gives no sign of life'),
    ]);
    const toAny = await owner.cli('member', 'hand-over');
    expect([toAny.code, toAny.stderr]).toEqual([1, expect.stringMatching(/east could .*; north could /)]);
    const list = (await owner.cli('member', 'list')).stdout;
    expect(list).toMatch(/east +could not take over: its disk is nearly full/);
    expect(list).toMatch(/north +could not take over: it gives no sign of life/);
    expect(await memberHealth(owner)).toMatchObject({ state: 'owning' });
    const again = await member({ name: 'north', log, dataFolder: other.dataFolder });
    await untilState(again, 'following');
    await untilTold(owner, 'member_no_room');
    expect((await owner.cli('member', 'hand-over', '--to', 'north')).code).toBe(0);
    await whichServes([again]);
    await Promise.all([owner, small, again].map((each) => each.kill()));
  },
);
