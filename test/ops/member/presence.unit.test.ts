/** Who of the members could take over, by the signs of life that they leave in the log, and which hand-over is refused. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { handOverProblem, Presence } from '../../../src/ops/member/presence.ts';
import { DAY_MS } from '../../../src/time/calendar.ts';

const LEASE_MS = 1000;
const EVERY_MS = limits.memberSignLeases * LEASE_MS;
const KEEP_DAYS = 2;

type Options = ConstructorParameters<typeof Presence>[0];

/** Members of one log, each with a clock of its own process: the owner `west`, and others that follow. */
function members() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const parts = new Map<string, Uint8Array>();
  const trouble = { isAway: false };
  const warnings: unknown[] = [];
  const log: Options['log'] = {
    async listParts(prefix) {
      if (trouble.isAway) throw new Error('the log is away');
      return [...parts.keys()].filter((name) => name.startsWith(prefix)).toSorted();
    },
    putPart: async (name, bytes) => void parts.set(name, bytes),
    removePart: async (name) => void parts.delete(name),
  };
  const member = (name: string, state: () => 'following' | 'no room' | 'owning') => {
    const self = () => {
      const now = state();
      const [owner, follower] = now === 'owning' ? [{}, undefined] : [undefined, { state: now }];
      return { identity: { name, instance: '' }, owner, follower, isServing: owner !== undefined };
    };
    const warn = { warn: (...told: unknown[]) => warnings.push(told) };
    const options = { log, leaseMs: LEASE_MS, keepDays: KEEP_DAYS, self, warn } as unknown as Options;
    const presence = new Presence(options);
    onTestFinished(() => presence.close());
    return presence;
  };
  return { parts, trouble, warnings, member, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

test('[MEMBER-8] a member is away after three missed signs, has no room at once, and neither once it says otherwise', async () => {
  const { parts, member, pass } = members();
  let west: 'following' | 'owning' = 'owning';
  let east: 'following' | 'no room' = 'following';
  const follower = member('east', () => east);
  const owner = member('west', () => west);
  // Right after a sign.
  await pass(2 * EVERY_MS + 1000);
  expect([owner.troubles, follower.troubles]).toEqual([{}, {}]);
  // Each leaves one sign, not one for each time.
  expect([...parts.keys()].map((name) => name.replace(/\d+/, 'N')).toSorted()).toEqual([
    'alive/east/N-ready',
    'alive/west/N-ready',
  ]);
  east = 'no room';
  // Less than the time between two signs.
  await pass(EVERY_MS / 2 + 1000);
  expect(owner.troubles).toEqual({ east: 'no room' });
  west = 'following';
  expect(owner.troubles).toEqual({});
  [west, east] = ['owning', 'following'];
  await pass(EVERY_MS / 2 + 1000);
  expect(owner.troubles).toEqual({});
  await follower.close();
  await pass((limits.memberSignsMissed - 1) * EVERY_MS);
  expect(owner.troubles).toEqual({});
  await pass(2 * EVERY_MS);
  expect(owner.troubles).toEqual({ east: 'away' });
  member('east', () => 'following');
  await pass(EVERY_MS);
  expect(owner.troubles).toEqual({});
});

test('[MEMBER-8] a member whose clock is wrong is no other than one whose clock is right', async () => {
  const { parts, member, pass } = members();
  const owner = member('west', () => 'owning');
  parts.set(`alive/east/${String(Date.now() + DAY_MS).padStart(15, '0')}-ready`, new Uint8Array());
  await pass(EVERY_MS);
  expect(owner.troubles).toEqual({});
  await pass((limits.memberSignsMissed + 1) * EVERY_MS);
  expect(owner.troubles).toEqual({ east: 'away' });
});

test('[MEMBER-8] a member that was away for the days of the log is forgotten with its sign', async () => {
  const { parts, member, pass } = members();
  const owner = member('west', () => 'owning');
  const sign = (agoMs: number) => `alive/east/${String(Date.now() - agoMs).padStart(15, '0')}-ready`;
  const [kept, old] = [sign(KEEP_DAYS * DAY_MS - 60_000), sign(KEEP_DAYS * DAY_MS + 1).replace('east', 'north')];
  for (const one of [kept, old]) parts.set(one, new Uint8Array());
  await pass((limits.memberSignsMissed + 2) * EVERY_MS);
  expect([parts.has(kept), parts.has(old), owner.troubles]).toEqual([true, false, { east: 'away' }]);
  await pass(60_000);
  expect([parts.has(kept), owner.troubles]).toEqual([false, {}]);
});

test('[MEMBER-8] while the log cannot be read nobody is called away, which is told once', async () => {
  const { trouble, warnings, member, pass } = members();
  member('east', () => 'following');
  const owner = member('west', () => 'owning');
  await pass(2 * EVERY_MS);
  trouble.isAway = true;
  await pass(10 * limits.memberSignsMissed * EVERY_MS);
  expect(owner.troubles).toEqual({});
  expect(warnings).toHaveLength(2);
  trouble.isAway = false;
  await pass(2 * EVERY_MS);
  expect(owner.troubles).toEqual({});
});

const THREE = ['west', 'east', 'north'];
test.each([
  { to: undefined, members: THREE, troubles: {}, problem: undefined },
  { to: 'east', members: THREE, troubles: { north: 'away' }, problem: undefined },
  {
    to: 'east',
    members: THREE,
    troubles: { east: 'away' },
    problem: /^east could not take over: it gives no sign of life$/,
  },
  {
    to: 'east',
    members: THREE,
    troubles: { east: 'no room' },
    problem: /^east could not take over: its disk is nearly full or failed$/,
  },
  { to: 'south', members: THREE, troubles: {}, problem: /no member south; the members are west, east, north/ },
  { to: undefined, members: THREE, troubles: { east: 'away' }, problem: undefined },
  {
    to: undefined,
    members: THREE,
    troubles: { east: 'away', north: 'no room' },
    problem: /^east could not take over: it gives no sign of life; north could not take over: its disk/,
  },
  // Whoever joins later takes it.
  { to: undefined, members: ['west'], troubles: {}, problem: undefined },
] as const)('[MEMBER-8] a hand-over to $to of $members with $troubles: $problem', ({ problem, ...asked }) => {
  const said = handOverProblem({ ...asked, self: 'west' });
  if (problem === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(problem);
});
