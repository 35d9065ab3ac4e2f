/** Which codes, labels and scopes are read, what a polling device hears, and what a refresh token means. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import type { DeviceGrantRecord, SignInRecord } from '../../src/oauth/records.ts';
import {
  checkScopeWithin,
  decidePoll,
  decideRefresh,
  isReadOnly,
  makeUserCode,
  type PollPace,
  readLabel,
  readScope,
  readUserCode,
  showUserCode,
} from '../../src/oauth/rules.ts';
import { refusedWith } from '../support/refused.ts';

const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');

describe('[OAUTH-1] a user code', () => {
  test.each<[typed: string, code: string | undefined]>([
    ['BCDFGHJK', 'BCDFGHJK'],
    ['bcdf-ghjk', 'BCDFGHJK'],
    [' b c d f — g.h/j k ', 'BCDFGHJK'],
    ['ZZZZZZZZ', 'ZZZZZZZZ'],
    ['BCDFGHJ', undefined],
    ['BCDFGHJKL', undefined],
    ['BCDFGHJA', undefined],
    ['BCDFGHJ1', undefined],
    ['', undefined],
    [`BCDFGHJK${' '.repeat(56)}`, 'BCDFGHJK'],
    [`BCDFGHJK${' '.repeat(57)}`, undefined],
  ])('typed as %j is %j', (typed, code) => {
    expect(readUserCode(typed)).toBe(code);
  });

  test.each<[pick: number, code: string]>([
    [0, 'BBBB-BBBB'],
    [19, 'ZZZZ-ZZZZ'],
  ])('made of letter %i is shown as %s', (pick, shown) => {
    const made = makeUserCode((end) => {
      expect(end).toBe(20);
      return pick;
    });
    expect(showUserCode(made)).toBe(shown);
    expect(readUserCode(shown)).toBe(made);
  });
});

test.each<[value: string, label: string | undefined]>([
  ['cli', 'cli'],
  ['  my nas  ', 'my nas'],
  ['12345678', '12345678'],
  ['123456789', undefined],
  ['', undefined],
  [' ', undefined],
  ['a\u202eb', undefined],
  ['a\u2028b', undefined],
  ['a\u2029b', undefined],
  ['a\ufffdb', undefined],
])('[OAUTH-1] the label %j of at most 8 characters is read as %j', (value, label) => {
  const refused = refusedWith(() => expect(readLabel('client_id', value, 8)).toBe(label));
  expect(refused).toEqual(
    label === undefined
      ? { kind: 'oauth', error: 'invalid_request', detail: 'client_id must have 1 to 8 printable characters' }
      : undefined,
  );
});

test.each<[asked: string | undefined, scope: string | undefined]>([
  [undefined, 'account'],
  ['read', 'read'],
  ['mcp account', 'account mcp'],
  ['write read write', 'read write'],
  ['', undefined],
  ['read  write', undefined],
  ['admin', undefined],
  ['read admin', undefined],
])('[OAUTH-1, OAUTH-5] the scope %j is granted as %j', (asked, scope) => {
  const refused = refusedWith(() => expect(readScope(asked)).toBe(scope));
  expect(refused).toEqual(scope === undefined ? expect.objectContaining({ error: 'invalid_scope' }) : undefined);
});

test.each<[granted: string, asked: string | undefined, within: boolean]>([
  ['read write', undefined, true],
  ['read write', 'read', true],
  ['read write', 'write read', true],
  ['read', 'write', false],
  ['read', 'read write', false],
  ['read', '', false],
])('[OAUTH-5] of the granted scope %j a refresh may ask for %j: %s', (granted, asked, within) => {
  const refused = refusedWith(() => checkScopeWithin(granted, asked));
  expect(refused).toEqual(within ? undefined : expect.objectContaining({ error: 'invalid_scope' }));
});

test.each<[string, boolean]>([
  ['read', true],
  ['write', false],
  ['read write', false],
  ['account', false],
])('[OAUTH-5] the scope %j is read-only: %s', (scope, is) => {
  expect(isReadOnly(scope)).toBe(is);
});

const grant = (changes: Partial<DeviceGrantRecord> = {}): DeviceGrantRecord => ({
  client_id: 'cli',
  device_name: null,
  scope: 'account',
  address: '192.0.2.7',
  user_hash: 'h',
  asked_ms: NOW_MS - 60_000,
  expires_ms: NOW_MS + 1,
  status: 'pending',
  account_id: null,
  ...changes,
});

describe('[OAUTH-1] a polling device hears', () => {
  const polled = (agoMs: number, intervalSeconds = 5): PollPace => ({ intervalSeconds, polledMs: NOW_MS - agoMs });
  const slack = limits.devicePollSlackMs;
  const [every, step] = [limits.devicePollSeconds, limits.devicePollStepSeconds];
  const refused = (error: string, intervalSeconds?: number) => ({
    kind: 'refused',
    error,
    ...(intervalSeconds === undefined ? {} : { pace: { intervalSeconds, polledMs: NOW_MS } }),
  });
  type Row = [title: string, grant: DeviceGrantRecord | undefined, pace: PollPace | undefined, expected: object];
  test.each<Row>([
    ['that its code is unknown', undefined, undefined, refused('invalid_grant')],
    [
      'that its code is another’s',
      grant({ client_id: 'other', status: 'approved', account_id: 'acc' }),
      undefined,
      refused('invalid_grant'),
    ],
    [
      'that its code expired',
      grant({ expires_ms: NOW_MS, status: 'approved', account_id: 'acc' }),
      undefined,
      refused('expired_token'),
    ],
    ['that it was denied', grant({ status: 'denied' }), undefined, refused('access_denied')],
    [
      'that it was approved, however early',
      grant({ status: 'approved', account_id: 'acc' }),
      polled(0),
      { kind: 'approved', accountId: 'acc' },
    ],
    ['to wait, at first', grant(), undefined, refused('authorization_pending', every)],
    ['to wait, on time', grant(), polled(every * 1000), refused('authorization_pending', every)],
    ['to wait, a little early', grant(), polled(every * 1000 - slack), refused('authorization_pending', every)],
    ['to slow down', grant(), polled(every * 1000 - slack - 1), refused('slow_down', every + step)],
    ['to slow down again', grant(), polled(10_000 - slack - 1, 10), refused('slow_down', 10 + step)],
    ['to wait at its slower pace', grant(), polled(10_000, 10), refused('authorization_pending', 10)],
    [
      'to wait while it is pending for somebody',
      grant({ account_id: 'acc' }),
      undefined,
      refused('authorization_pending', every),
    ],
    [
      'to wait when approved for nobody',
      grant({ status: 'approved' }),
      undefined,
      refused('authorization_pending', every),
    ],
  ])('%s', (_, asked, pace, expected) => {
    expect(decidePoll(asked, 'cli', pace, NOW_MS)).toMatchObject(expected);
  });

  test('how long to wait', () => {
    expect(decidePoll(grant(), 'cli', polled(0), NOW_MS)).toMatchObject({
      detail: `wait ${every + step} s between polls from now on`,
    });
  });
});

const YEAR_MS = 365 * 86_400_000;

describe('[KEY-6, OPS-31] a refresh token', () => {
  const signIn = (changes: Partial<SignInRecord> = {}): SignInRecord => ({
    account_id: 'acc',
    client_id: 'cli',
    device_name: null,
    scope: 'account',
    created_at: '',
    used_at: '',
    current_hash: 'current',
    previous: { hash: 'previous', nonce: 'n', isRetried: false },
    rotated_ms: NOW_MS - limits.refreshRetryMs,
    expires_ms: NOW_MS + 1,
    ...changes,
  });
  const token = (hash: string, clientId = 'cli') => ({ hash, clientId });
  type Row = [
    title: string,
    record: SignInRecord | undefined,
    presented: Parameters<typeof decideRefresh>[1],
    decision: string,
  ];
  test.each<Row>([
    ['of a sign-in that ended', undefined, token('current'), 'ended'],
    ['of another client', signIn(), token('current', 'other'), 'foreign'],
    ['of another client, expired', signIn({ expires_ms: NOW_MS }), token('current', 'other'), 'foreign'],
    ['that is current', signIn(), token('current'), 'rotate'],
    ['that has expired', signIn({ expires_ms: NOW_MS }), token('current'), 'expired'],
    ['that was current, once more', signIn(), token('previous'), 'retry'],
    [
      'that was current, too late',
      signIn({ rotated_ms: NOW_MS - limits.refreshRetryMs - 1 }),
      token('previous'),
      'replay',
    ],
    [
      'that was current, a second time',
      signIn({ previous: { hash: 'previous', nonce: 'n', isRetried: true } }),
      token('previous'),
      'replay',
    ],
    ['older than that', signIn(), token('older'), 'replay'],
    [
      'of a sign-in made by a clock years ahead',
      signIn({ created_at: new Date(NOW_MS + 5 * YEAR_MS).toISOString(), expires_ms: NOW_MS + 5 * YEAR_MS }),
      token('current'),
      'expired',
    ],
    ['of a sign-in that never rotated', signIn({ previous: null }), token('previous'), 'replay'],
    ['unknown, issued by this file', signIn({ epoch: 'now' }), token('other'), 'replay'],
    ['unknown, in a file restored since', signIn({ epoch: 'before' }), token('other'), 'restored'],
    ['that is current, in a file restored since', signIn({ epoch: 'before' }), token('current'), 'rotate'],
  ])('%s: %s', (_, record, presented, decision) => {
    expect(decideRefresh(record, presented, NOW_MS, 'now')).toBe(decision);
  });
});
