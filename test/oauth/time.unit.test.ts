/** What time does to codes and tokens, with the clock passed in: the pure rules, and the use cases over a store. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AccessTokens } from '../../src/accounts/tokens.ts';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { OPERATOR } from '../../src/audit/note.ts';
import { Refusal } from '../../src/common/fault.ts';
import { openLog } from '../../src/common/log.ts';
import { allTables } from '../../src/compose/tables.ts';
import { limits } from '../../src/limits/service.ts';
import { DeviceGrants } from '../../src/oauth/device-grants.ts';
import { deviceGrants, signIns as signInTable } from '../../src/oauth/records.ts';
import { makeUserCode, readUserCode, showUserCode } from '../../src/oauth/rules.ts';
import { SignIns } from '../../src/oauth/sign-ins.ts';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SECOND = 1000;
const DAY = 86_400 * SECOND;
const DEVICE = { client_id: 'cli', device_name: 'kitchen', scope: 'account' };
const GUESSER = { address: '192.0.2.1', accountId: 'acc_1' };

let clock: { ms: number };
let store: Store;
let actors: ActorRegistry;
let tokens: AccessTokens;
let signIns: SignIns;
let devices: DeviceGrants;
/** No account has room for another key. */
let isFull: boolean;

beforeEach(() => {
  isFull = false;
  clock = { ms: Date.parse('2026-11-20T12:00:00Z') };
  const now = () => clock.ms;
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  actors = new ActorRegistry(store);
  const base = { store, actors, sealer: createSealer(randomBytes(32)), now };
  tokens = new AccessTokens(base);
  signIns = new SignIns({
    ...base,
    log: openLog('silent').log,
    epoch: 'one',
    account: {
      isOpen: () => true,
      mintToken: (batch, accountId, signInId) => tokens.add(batch, accountId, signInId),
      endTokens: (batch, accountId, signInId) => tokens.endSignIn(batch, accountId, signInId),
      addKey: () => {
        if (isFull) throw new Refusal({ kind: 'key_limit', keysMax: 1 });
        return { key_id: 'key_1', mcp_key: 'a key' };
      },
      endKey: () => undefined,
      checkKeyRoom: () => undefined,
    },
  });
  devices = new DeviceGrants({ ...base, signIns });
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

/** The kind of a refusal, or its OAuth error. */
async function refusal(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.fault.kind === 'oauth' ? error.fault.error : error.fault.kind;
  }
  return 'none';
}

const ask = () => devices.start(DEVICE, '192.0.2.7');

async function signIn() {
  const { device_code, user_code } = await ask();
  await devices.approve(user_code, 'acc_1');
  return await devices.redeem(device_code, 'cli');
}

test('[OAUTH-1] codes live ten minutes: then the person finds none and the device is told expired_token', async () => {
  const codes = await ask();
  clock.ms += 600 * SECOND - 1;
  expect(devices.describe(codes.user_code, GUESSER)).toEqual({
    user_code: codes.user_code,
    client: 'cli',
    device_name: 'kitchen',
    scope: 'account',
    address: '192.0.2.7',
    asked_at: '2026-11-20T12:00:00.000Z',
    expires_at: '2026-11-20T12:10:00.000Z',
  });
  clock.ms += 1;
  expect(await refusal(() => devices.describe(codes.user_code, GUESSER))).toBe('not_found');
  expect(await refusal(() => devices.approve(codes.user_code, 'acc_1'))).toBe('not_found');
  expect(await refusal(() => devices.redeem(codes.device_code, 'cli'))).toBe('expired_token');
});

test('[OAUTH-1] approved and not fetched in time is expired as well, and rows of expired codes are swept', async () => {
  const codes = await ask();
  await devices.approve(codes.user_code, 'acc_1');
  clock.ms += 600 * SECOND;
  expect(await refusal(() => devices.redeem(codes.device_code, 'cli'))).toBe('expired_token');
  clock.ms += 600 * SECOND;
  await ask();
  expect(store.range(deviceGrants, { prefix: [] })).toHaveLength(1);
  expect(await refusal(() => devices.redeem(codes.device_code, 'cli'))).toBe('invalid_grant');
});

test('[OAUTH-1] a code whose account has no room for its key stays good, and gives tokens once when there is', async () => {
  const codes = await devices.start({ ...DEVICE, scope: 'account mcp' }, '192.0.2.7');
  await devices.approve(codes.user_code, 'acc_1');
  isFull = true;
  for (let poll = 0; poll < 2; poll += 1) {
    expect(await refusal(() => devices.redeem(codes.device_code, 'cli'))).toBe('key_limit');
    expect(store.range(signInTable, { prefix: [] })).toEqual([]);
  }
  isFull = false;
  expect(await devices.redeem(codes.device_code, 'cli')).toMatchObject({ mcp_key: 'a key' });
  expect(await refusal(() => devices.redeem(codes.device_code, 'cli'))).toBe('invalid_grant');
  expect(store.range(signInTable, { prefix: [] })).toHaveLength(1);
});

test('[OAUTH-1] who keeps the interval is never slowed down; each early poll adds five seconds for good', async () => {
  const { device_code: code } = await ask();
  const pollAfter = (seconds: number) => {
    clock.ms += seconds * SECOND;
    return refusal(() => devices.redeem(code, 'cli'));
  };
  expect(await pollAfter(0)).toBe('authorization_pending');
  for (const seconds of [5, 5.2, 4.6, 5]) expect(await pollAfter(seconds)).toBe('authorization_pending');
  expect(await pollAfter(4)).toBe('slow_down');
  expect(await pollAfter(5)).toBe('slow_down');
  expect(await pollAfter(15)).toBe('authorization_pending');
  expect(await pollAfter(14)).toBe('slow_down');
  expect(await pollAfter(20)).toBe('authorization_pending');
});

test('[OAUTH-1] five wrong tries in ten minutes, per address and per account; then a right code is not looked at', async () => {
  const codes = await ask();
  for (let tries = 0; tries < 5; tries += 1) {
    expect(await refusal(() => devices.describe('BBBB-BBBB', GUESSER))).toBe('not_found');
    clock.ms += 60 * SECOND;
  }
  expect(await refusal(() => devices.describe(codes.user_code, GUESSER))).toBe('rate_limited');
  expect(await refusal(() => devices.describe(codes.user_code, { address: GUESSER.address }))).toBe('rate_limited');
  expect(await refusal(() => devices.approve(codes.user_code, 'acc_1'))).toBe('rate_limited');
  expect(await refusal(() => devices.describe(codes.user_code, { address: '192.0.2.2', accountId: 'acc_2' }))).toBe(
    'none',
  );
  clock.ms += 300 * SECOND - 1;
  expect(await refusal(() => devices.describe('BBBB-BBBB', GUESSER))).toBe('rate_limited');
  clock.ms += 1;
  // The oldest of the five is ten minutes old: one more try, and no second.
  expect(await refusal(() => devices.describe('BBBB-BBBB', GUESSER))).toBe('not_found');
  expect(await refusal(() => devices.describe('BBBB-BBBB', GUESSER))).toBe('rate_limited');
});

test('[OAUTH-1] right codes cost nothing, and a neighbour in the same /64 is the same guesser', async () => {
  const codes = await ask();
  for (let looks = 0; looks < 20; looks += 1) devices.describe(codes.user_code, GUESSER);
  for (let tries = 0; tries < 5; tries += 1) {
    await refusal(() => devices.describe('BBBB-BBBB', { address: `2001:db8::${tries}` }));
  }
  expect(await refusal(() => devices.describe(codes.user_code, { address: '2001:db8:0:0:ffff::1' }))).toBe(
    'rate_limited',
  );
  expect(await refusal(() => devices.describe(codes.user_code, { address: '2001:db8:0:1::1' }))).toBe('none');
});

test('[OAUTH-1, LIM-4] all devices together ask a bounded number of times a minute, of which some are for other networks', async () => {
  const kept = limits.deviceRequestsPerMinuteMax * limits.deviceRequestsKept;
  await Promise.all(Array.from({ length: limits.deviceRequestsPerMinuteMax - kept }, ask));
  expect(await refusal(ask)).toBe('overloaded');
  const askFrom = (n: number) => () => devices.start(DEVICE, `198.51.${n >>> 8}.${n & 255}`);
  const others = await Promise.all(Array.from({ length: kept }, (_, n) => refusal(askFrom(n))));
  expect(new Set(others)).toEqual(new Set(['none']));
  expect(await refusal(askFrom(0))).toBe('overloaded');
  expect(await refusal(askFrom(kept))).toBe('overloaded');
  clock.ms += 60 * SECOND;
  expect(await refusal(ask)).toBe('none');
});

test('[KEY-6] the one retry is open for 30 seconds', async () => {
  const first = await signIn();
  const second = await signIns.refresh(first.refresh_token, 'cli', undefined);
  clock.ms += 30 * SECOND;
  const again = await signIns.refresh(first.refresh_token, 'cli', undefined);
  expect(again.refresh_token).toBe(second.refresh_token);
  clock.ms += 1;
  const third = await signIns.refresh(second.refresh_token, 'cli', undefined);
  clock.ms += 30 * SECOND + 1;
  expect(await refusal(() => signIns.refresh(second.refresh_token, 'cli', undefined))).toBe('invalid_grant');
  expect(await refusal(() => signIns.refresh(third.refresh_token, 'cli', undefined))).toBe('invalid_grant');
  expect(tokens.authenticate(third.access_token)).toBeUndefined();
});

test('[KEY-6] a refresh token lives 60 days from its rotation, and an expired sign-in is forgotten', async () => {
  const first = await signIn();
  clock.ms += 60 * DAY - 1;
  const second = await signIns.refresh(first.refresh_token, 'cli', undefined);
  expect(signIns.list('acc_1')).toEqual([
    {
      sign_in_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      ...DEVICE,
      created_at: '2026-11-20T12:00:00.000Z',
      used_at: new Date(clock.ms).toISOString(),
      expires_at: new Date(clock.ms + 60 * DAY).toISOString(),
    },
  ]);
  clock.ms += 60 * DAY;
  expect(signIns.list('acc_1')).toEqual([]);
  expect(await refusal(() => signIns.refresh(second.refresh_token, 'cli', undefined))).toBe('invalid_grant');
  expect(store.range(signInTable, { prefix: [] })).toEqual([]);
});

test('[KEY-6] two years after the sign-in its refresh token has expired, however often it was used', async () => {
  let { refresh_token: token } = await signIn();
  const endMs = clock.ms + 730 * DAY;
  while (clock.ms < endMs - 50 * DAY) {
    clock.ms += 50 * DAY;
    ({ refresh_token: token } = await signIns.refresh(token, 'cli', undefined));
  }
  clock.ms = endMs - 1;
  ({ refresh_token: token } = await signIns.refresh(token, 'cli', undefined));
  expect(signIns.list('acc_1').map(({ expires_at }) => expires_at)).toEqual([new Date(endMs).toISOString()]);
  clock.ms = endMs;
  expect(await refusal(() => signIns.refresh(token, 'cli', undefined))).toBe('invalid_grant');
});

test('[KEY-6] above the most that an account holds, the device that was away longest is signed out', async () => {
  const all = [];
  for (let made = 0; made < limits.signInsMax; made += 1) {
    all.push(await signIn());
    clock.ms += SECOND;
  }
  const [oldest, next] = all;
  const kept = await signIns.refresh(oldest?.refresh_token ?? '', 'cli', undefined);
  await signIn();
  expect(signIns.list('acc_1')).toHaveLength(limits.signInsMax);
  expect(tokens.authenticate(kept.access_token)).toBeDefined();
  expect(tokens.authenticate(next?.access_token ?? '')).toBeUndefined();
  expect(await refusal(() => signIns.refresh(next?.refresh_token ?? '', 'cli', undefined))).toBe('invalid_grant');
});

test('[KEY-6] an account holds a bounded number of live access tokens; the one that expires first goes', async () => {
  const first = await tokens.mint('acc_1', OPERATOR);
  clock.ms += 1;
  const rest = await actors
    .account('acc_1')
    .ask((batch) => Array.from({ length: limits.accessTokensLiveMax - 1 }, () => tokens.add(batch, 'acc_1')));
  expect(tokens.authenticate(first.access_token)).toBeDefined();
  await tokens.mint('acc_1', OPERATOR);
  expect(tokens.authenticate(first.access_token)).toBeUndefined();
  expect(rest.filter(({ access_token }) => tokens.authenticate(access_token) === undefined)).toEqual([]);
});

test('[KEY-8] an account ends its own sign-ins only', async () => {
  const { access_token } = await signIn();
  const [mine] = signIns.list('acc_1');
  const id = mine?.sign_in_id ?? '';
  expect(await refusal(() => signIns.end('acc_2', id, OPERATOR))).toBe('not_found');
  expect(await refusal(() => signIns.end('acc_2', '0'.repeat(24), OPERATOR))).toBe('not_found');
  expect(tokens.authenticate(access_token)).toBeDefined();
  await signIns.end('acc_1', id, OPERATOR);
  expect([tokens.authenticate(access_token), signIns.list('acc_1')]).toEqual([undefined, []]);
});

test('[OAUTH-1] user codes are eight of the 20 consonants, each as likely, and read back however they are typed', () => {
  const counts = new Map<number, number>();
  for (let letter = 0; letter < 20; letter += 1) {
    const code = makeUserCode((end) => {
      expect(end).toBe(20);
      return letter;
    });
    counts.set(letter, code.length);
    for (const typed of [
      code,
      showUserCode(code),
      showUserCode(code).toLowerCase(),
      ` ${code.split('').join(' - ')} `,
    ]) {
      expect(readUserCode(typed)).toBe(code);
    }
  }
  expect([...counts.values()]).toEqual(Array(20).fill(8));
  for (const wrong of ['', 'BCDFGHJ', 'BCDFGHJKL', 'BCDFGHJA', 'BCDFGHJ1', 'BCDFGHJÖ', `BCDFGHJK${' '.repeat(60)}`]) {
    expect([wrong, readUserCode(wrong)]).toEqual([wrong, undefined]);
  }
});
