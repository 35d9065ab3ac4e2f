/** How password tries are slowed and limited, with the clock and the timers passed in. */
import { beforeEach, expect, test } from 'vitest';
import { BrowserMarks } from '../../../src/accounts/sign-in/browser-mark.ts';
import { isCommonPassword } from '../../../src/accounts/sign-in/common-passwords.ts';
import { SignInGuard } from '../../../src/accounts/sign-in/guard.ts';
import { Refusal } from '../../../src/common/fault.ts';
import { limits } from '../../../src/limits/service.ts';

const EMAIL = 'victim@example.org';
let nowMs: number;
let timers: (() => void)[];
let guard: SignInGuard;

beforeEach(() => {
  nowMs = 1_000_000;
  timers = [];
  guard = new SignInGuard({
    isOn: true,
    countSignIn: () => undefined,
    now: () => nowMs,
    later: (run) => void timers.push(run),
  });
});

const tryFrom = (address: string, known?: string) => ({ email: EMAIL, address, known });

/** What comes of a try: it passes now, it waits, or it is refused. */
async function outcome(promise: Promise<void>): Promise<'passes' | 'waits' | 'refused'> {
  let state: 'passes' | 'waits' | 'refused' = 'waits';
  promise.then(
    () => {
      state = 'passes';
    },
    (error: unknown) => {
      if (error instanceof Refusal && error.fault.kind === 'rate_limited') state = 'refused';
    },
  );
  await new Promise((resolve) => setImmediate(resolve));
  return state;
}

/** So many wrong passwords, each from an address of its own. */
function attack(times: number): void {
  for (let n = 0; n < times; n += 1) guard.failed(tryFrom(`198.51.100.${n}`));
}

const tick = () => {
  for (const run of timers.splice(0)) run();
};

test('[AUTH-1] wrong passwords from anywhere lock nobody out: strangers take turns, a known browser passes', async () => {
  attack(limits.passwordTriesOfEmailMax * 20);
  expect(await outcome(guard.enter(tryFrom('203.0.113.1')))).toBe('passes');
  const owner = guard.enter(tryFrom('203.0.113.2'));
  expect(await outcome(owner)).toBe('waits');
  expect(await outcome(guard.enter(tryFrom('203.0.113.3', 'the-browser')))).toBe('passes');
  tick();
  expect(await outcome(owner)).toBe('passes');
});

test('[AUTH-1] turns go round the addresses, and one address holds few places', async () => {
  attack(limits.passwordTriesOfEmailMax);
  await guard.enter(tryFrom('192.0.2.1'));
  const flood = [1, 2].map(() => guard.enter(tryFrom('192.0.2.1')));
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('refused');
  const owner = guard.enter(tryFrom('203.0.113.2'));
  tick();
  tick();
  expect(await Promise.all([outcome(owner), outcome(flood[1] as Promise<void>)])).toEqual(['passes', 'waits']);
});

test('[AUTH-1] one address that is wrong too often about one email is refused, and others are not', async () => {
  for (let n = 0; n < limits.passwordTriesMax; n += 1) guard.failed(tryFrom('192.0.2.1'));
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('refused');
  expect(await outcome(guard.enter({ ...tryFrom('192.0.2.1'), email: 'other@example.org' }))).toBe('passes');
  expect(await outcome(guard.enter(tryFrom('192.0.2.2')))).toBe('passes');
  nowMs += limits.passwordTriesMs + 1;
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('waits');
  tick();
  tick();
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('passes');
});

test('[AUTH-1] a known browser that is wrong too often is a stranger', async () => {
  for (let n = 0; n < limits.passwordTriesMax; n += 1) guard.failed(tryFrom('192.0.2.1', 'the-browser'));
  expect(await outcome(guard.enter(tryFrom('192.0.2.1', 'the-browser')))).toBe('refused');
});

test('[AUTH-1] who waits is bounded', async () => {
  attack(limits.passwordTriesOfEmailMax);
  const outcomes = [];
  for (let n = 0; n < limits.slowSignInsWaitingMax + 3; n += 1) {
    outcomes.push(await outcome(guard.enter(tryFrom(`203.0.113.${n}`))));
  }
  expect(outcomes.filter((one) => one === 'waits').length).toBe(limits.slowSignInsWaitingMax);
  expect(outcomes.slice(-2)).toEqual(['refused', 'refused']);
});

test('[AUTH-1] a place of an address is free again after its turn', async () => {
  attack(limits.passwordTriesOfEmailMax);
  await guard.enter(tryFrom('192.0.2.1'));
  const places = limits.slowSignInsOfAddressMax;
  const waiting = Array.from({ length: places }, () => guard.enter(tryFrom('192.0.2.1')));
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('refused');
  tick();
  expect(await outcome(waiting[0] as Promise<void>)).toBe('passes');
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('waits');
  expect(await outcome(guard.enter(tryFrom('192.0.2.1')))).toBe('refused');
});

/** Guesses from so many networks (/64) of one site, as many as each can send at a time, and what comes of them. */
async function guesses(site: string, networks: number): Promise<Readonly<Record<string, number>>> {
  const seen: Record<string, number> = {};
  for (let n = 0; n < networks; n += 1) {
    const tried = tryFrom(`${site}:${n.toString(16)}::1`);
    const entered = guard.enter(tried);
    entered.then(
      () => guard.failed(tried),
      () => undefined,
    );
    const what = await outcome(entered);
    seen[what] = (seen[what] ?? 0) + 1;
  }
  return seen;
}

test('[LIM-4, AUTH-1] while a /48 guesses, the owner with a new machine elsewhere gets in at the next turn', async () => {
  for (let round = 0; round < 30; round += 1) {
    await guesses('2001:db8:a', 300);
    const owner = guard.enter(tryFrom('203.0.113.2'));
    if ((await outcome(owner)) === 'waits') {
      tick();
      await outcome(owner);
      tick();
    }
    expect([round, await outcome(owner)]).toEqual([round, 'passes']);
    tick();
  }
});

test('[LIM-4, AUTH-1] a site has four times the wrong passwords of one of its networks, then none until they are old', async () => {
  let passed = 0;
  for (let round = 0; round < 60; round += 1) {
    passed += (await guesses('2001:db8:a', 64))['passes'] ?? 0;
    tick();
    await outcome(Promise.resolve());
  }
  const refused = await guesses('2001:db8:a', 16);
  expect(refused).toEqual({ refused: 16 });
  expect(passed).toBeLessThanOrEqual(4 * limits.passwordTriesMax);
  nowMs += limits.passwordTriesMs + 1;
  expect((await guesses('2001:db8:a', 1))['refused'] ?? 0).toBe(0);
});

test('[LIM-4, AUTH-1] who waits from a network with many places makes room for one with none', async () => {
  attack(limits.passwordTriesOfEmailMax);
  await guard.enter(tryFrom('192.0.2.1'));
  const first = Array.from({ length: 8 }, (_, n) => guard.enter(tryFrom(`2001:db8:a:${(n * 256).toString(16)}::1`)));
  const second = [0, 1].map((n) => guard.enter(tryFrom(`2001:db8:b:${(n * 256).toString(16)}::1`)));
  const all = await Promise.all([...first, ...second].map(outcome));
  expect(all).toEqual(Array(limits.slowSignInsWaitingMax).fill('waits'));
  const owner = guard.enter(tryFrom('203.0.113.2'));
  expect(await outcome(owner)).toBe('waits');
  expect(await Promise.all([...first, ...second].map(outcome))).toEqual([
    ...Array(7).fill('waits'),
    'refused',
    'waits',
    'waits',
  ]);
  for (let turn = 0; turn < 3; turn += 1) {
    tick();
    await outcome(owner);
  }
  expect(await outcome(owner)).toBe('passes');
});

test('[AUTH-1, LIM-2] emails under attack at one time are bounded, and a refusal says when to come again', async () => {
  const emails = Array.from({ length: limits.slowSignInEmailsMax + 1 }, (_, n) => `n${n}@example.org`);
  for (const email of emails) {
    for (let n = 0; n < limits.passwordTriesOfEmailMax; n += 1) guard.failed({ ...tryFrom(`198.51.100.${n}`), email });
  }
  const last = emails.pop() ?? '';
  for (const email of emails) await guard.enter({ ...tryFrom('203.0.113.1'), email });
  const refused = await guard.enter({ ...tryFrom('203.0.113.1'), email: last }).catch((error: unknown) => error);
  expect((refused as Refusal).fault).toEqual({
    kind: 'rate_limited',
    limit: limits.slowSignInsWaitingMax,
    retryAfterSeconds: (limits.slowSignInsWaitingMax * limits.slowSignInMs) / 1000,
  });
});

test('[AUTH-1] a mark is of one browser and the emails that it signed in with, and nobody else can make one', () => {
  const keyedHash = (purpose: string, value: string) =>
    Buffer.from(`${purpose}${value}`.padEnd(40, '.')).toString('hex').slice(-64);
  const marks = new BrowserMarks(keyedHash);
  const first = marks.extend(undefined, EMAIL);
  const both = marks.extend(first, 'other@example.org');
  expect(marks.knownAs(first, EMAIL)).toBe(marks.knownAs(both, 'other@example.org'));
  expect(marks.knownAs(both, EMAIL)).toBeDefined();
  expect(marks.knownAs(first, 'other@example.org')).toBeUndefined();
  expect(marks.extend(first, EMAIL)).toBe(first);
  for (const wrong of [undefined, '', first.slice(0, -1), `${first}0`, first.replace(/.$/, 'g'), 'x'.repeat(5000)]) {
    expect(marks.knownAs(wrong, EMAIL)).toBeUndefined();
  }
  let many = first;
  for (let n = 0; n < 20; n += 1) many = marks.extend(many, `n${n}@example.org`);
  expect(many.length).toBeLessThan(250);
});

test('[KEY-7] the commonest passwords are known in any case, and a few random words are not among them', async () => {
  for (const common of ['password', '12345678', 'PassWord', 'qwertyuiop', 'sunshine', 'superman']) {
    expect(await isCommonPassword(common)).toBe(true);
  }
  expect(await isCommonPassword('correct horse battery')).toBe(false);
});
