/** What an email, a name, a key and a browser session may be, and when one is too many. */
import { describe, expect, test } from 'vitest';
import type { BrowserSessionRecord, KeyRecord } from '../../src/accounts/records.ts';
import {
  checkKeyLimit,
  checkName,
  isSessionLive,
  isUseWorthWriting,
  kindOfKey,
  makeKey,
  normalizeEmail,
  surplusSessions,
} from '../../src/accounts/rules.ts';
import { limits } from '../../src/limits/service.ts';
import { refusedWith } from '../support/refused.ts';

const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');

describe('[KEY-7] an email', () => {
  const most = limits.emailCharsMax;
  const long = (chars: number) => `${'a'.repeat(chars - 2)}@b`;
  test.each<[given: string, normal: string | undefined]>([
    ['a@b', 'a@b'],
    ['  Me@Example.ORG\n', 'me@example.org'],
    ['e\u0301@example.org', 'é@example.org'],
    ['ME+tag@sub.example.org', 'me+tag@sub.example.org'],
    [long(most), long(most)],
    [long(most + 1), undefined],
    ['', undefined],
    ['a', undefined],
    ['@b', undefined],
    ['a@', undefined],
    ['a@b@c', undefined],
    ['a b@c', undefined],
    ['a@b\u200bc', undefined],
    ['a\u0000@b', undefined],
    ['a@b\r\nRCPT', undefined],
    ['a\n@b', undefined],
  ])('%j is %j', (given, normal) => {
    if (normal === undefined)
      expect(refusedWith(() => normalizeEmail(given))).toEqual({ kind: 'invalid_fields', fields: ['email'] });
    else expect(normalizeEmail(given)).toBe(normal);
  });
});

describe('[KEY-5] a name', () => {
  const most = limits.nameCharsMax;
  test.each<[given: string, name: string | undefined]>([
    ['x', 'x'],
    [' my laptop ', 'my laptop'],
    ['n'.repeat(most), 'n'.repeat(most)],
    ['n'.repeat(most + 1), undefined],
    ['', undefined],
    ['  ', undefined],
    ['a\u202eb', undefined],
    ['a\nb', undefined],
  ])('%j is %j', (given, name) => {
    if (name === undefined)
      expect(refusedWith(() => checkName('label', given))).toEqual({ kind: 'invalid_fields', fields: ['label'] });
    else expect(checkName('label', given)).toBe(name);
  });
});

test('[KEY-5, KEY-7] a refusal names the limit', () => {
  expect(() => normalizeEmail('')).toThrow(`and have at most ${limits.emailCharsMax} characters`);
  expect(() => checkName('name', '')).toThrow(`name must have 1 to ${limits.nameCharsMax} printable characters`);
});

test.each<[presented: string, kind: string | undefined]>([
  ['0123456789abcdef'.repeat(4), 'mcp'],
  ['0123456789ABCDEF'.repeat(4), undefined],
  ['0'.repeat(63), undefined],
  ['0'.repeat(65), undefined],
  ['abcdefghjkmnpqrstuvwxyz2', 'account'],
  ['a'.repeat(23), undefined],
  ['a'.repeat(25), undefined],
  [`${'a'.repeat(23)}1`, undefined],
  [`${'a'.repeat(23)}A`, undefined],
  ['', undefined],
])('[KEY-1] %j has the shape of a key: %s', (presented, kind) => {
  expect(kindOfKey(presented)).toBe(kind);
});

test.each<[kind: 'mcp' | 'account', bytes: number, first: number, key: string]>([
  ['mcp', 32, 0, `${'00'.repeat(31)}ff`],
  ['account', 24, 0, `${'a'.repeat(23)}9`],
  ['account', 24, 32, `${'a'.repeat(23)}9`],
  ['account', 24, 23, `${'z'.repeat(23)}9`],
])('[KEY-1] a key of kind %s is made of %i random bytes', (kind, bytes, first, key) => {
  const made = makeKey(kind, (count) => {
    expect(count).toBe(bytes);
    return new Uint8Array(count).fill(first).fill(255, -1);
  });
  expect(made).toBe(key);
  expect(kindOfKey(made)).toBe(kind);
});

describe('[KEY-5] the limit of keys', () => {
  const keyOf = (changes: Partial<KeyRecord> = {}): KeyRecord => ({
    kind: 'mcp',
    name: 'k',
    hash: 'h',
    created_at: '',
    last_used_at: null,
    revoked_at: null,
    ...changes,
  });
  const many = (count: number) => Array.from({ length: count }, () => keyOf());
  const most = limits.accountKeysLiveMax;
  test.each<[title: string, keys: readonly KeyRecord[], refused: boolean]>([
    ['none yet', [], false],
    ['one below', many(most - 1), false],
    ['reached', many(most), true],
    ['reached with a revoked one', [...many(most - 1), keyOf({ revoked_at: '2026-01-01' })], false],
    ['reached with the account key', [...many(most - 1), keyOf({ kind: 'account' })], false],
  ])('%s', (_, keys, refused) => {
    const outcome = refusedWith(() => checkKeyLimit(keys));
    expect(outcome).toEqual(refused ? { kind: 'key_limit', keysMax: most } : undefined);
  });
});

test.each<[agoMs: number | undefined, worth: boolean]>([
  [undefined, true],
  [0, false],
  [limits.lastUsedMs - 1, false],
  [limits.lastUsedMs, true],
])('[KEY-5] a use %s ms after the last one is written: %s', (agoMs, worth) => {
  expect(isUseWorthWriting(agoMs === undefined ? null : new Date(NOW_MS - agoMs).toISOString(), NOW_MS)).toBe(worth);
});

const IDLE_MS = limits.browserSessionIdleSeconds * 1000;
const DAY_MS = 86_400_000;
const AGE_MS = limits.browserSessionSeconds * 1000;
const session = (seenAgoMs: number, createdAgoMs = seenAgoMs): BrowserSessionRecord => ({
  account_id: 'acc',
  agent: null,
  created_ms: NOW_MS - createdAgoMs,
  seen_ms: NOW_MS - seenAgoMs,
});

test.each<[title: string, record: BrowserSessionRecord, live: boolean]>([
  ['just begun', session(0), true],
  ['idle for less than a week', session(IDLE_MS - 1), true],
  ['idle for a week', session(IDLE_MS), false],
  ['used, and younger than a month', session(0, AGE_MS - 1), true],
  ['used, and a month old', session(0, AGE_MS), false],
  ['begun by a clock a day ahead', session(-DAY_MS), true],
  ['begun by a clock more than a day ahead', session(-DAY_MS - 1), false],
  ['begun by a clock years ahead', session(-5 * AGE_MS), false],
])('[WEB-2] a session %s is live: %s', (_, record, live) => {
  expect(isSessionLive(record, NOW_MS)).toBe(live);
});

describe('[WEB-2] the sessions that end when another begins', () => {
  const most = limits.browserSessionsMax;
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ hash: `s${at}`, record: session(at + 1) }));
  test.each<[title: string, sessions: ReturnType<typeof many>, ended: string[]]>([
    ['none, when there is room for one', many(most - 1), []],
    ['the one that was idle longest', many(most), [`s${most - 1}`]],
    ['the two that were idle longest', many(most + 1).toReversed(), [`s${most}`, `s${most - 1}`]],
    ['the expired one, whatever room there is', [{ hash: 'old', record: session(IDLE_MS) }, ...many(1)], ['old']],
    [
      'only the expired one, when that makes room',
      [...many(most - 1), { hash: 'old', record: session(IDLE_MS) }],
      ['old'],
    ],
  ])('%s', (_, sessions, ended) => {
    expect(surplusSessions(sessions, NOW_MS)).toEqual(ended);
  });
});
