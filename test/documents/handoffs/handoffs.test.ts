/** Proves the rules of handoffs through both doors of the gateway. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { kstDate } from '../../../src/time/kst.ts';
import { bothDoors, callTool, mirrorTool, structuredOf, textOf, withKey } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { newKey } from '../dev-docs/support.ts';

interface Handoff {
  readonly id: number;
  readonly project: string;
  readonly topic: string;
  readonly date: string;
  readonly time: string | null;
  readonly version: number;
  readonly size_bytes: number;
  readonly updated_at: string;
}

interface Read {
  readonly handoff: Handoff & { readonly content: string };
  readonly current_version: number;
  readonly versions?: readonly { readonly version: number }[];
}

interface List {
  readonly handoffs: readonly (Handoff & { readonly preview: string })[];
  readonly count: number;
  readonly has_more: boolean;
  readonly cursor: string | null;
}

const MIB = 1024 * 1024;
const NAME = { project: 'cairn', topic: 'release' };
let hub: Hub;
let key: string;

beforeAll(async () => {
  hub = await startHub();
});

beforeEach(async () => {
  key = await newKey(hub);
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
});

const run = bothDoors(() => ({ hub, key }));

const save = async (args: object = {}) =>
  (await run<{ handoff: Handoff }>('handoff_save', { ...NAME, content: 'x', ...args })).handoff;
const get = (args: object = {}) => run<Read>('handoff_get', { ...NAME, ...args });
const list = (args: object = {}) => run<List>('handoff_list', args);

/** The same refusal over both doors; the account is as it was. */
async function refused(name: string, args: object, status: number, error: object): Promise<string> {
  const before = await list();
  const told = await callTool(hub, name, args, key);
  expect(told.error).toMatchObject({ message: expect.any(String), ...error });
  const answer = await mirrorTool(hub, name, args, withKey(key));
  expect([answer.status, answer.json()]).toMatchObject([
    status,
    { error: told.error?.message, code: told.error?.code },
  ]);
  expect(await list()).toEqual(before);
  return told.error?.message ?? '';
}

test('[HAND-1] a handoff is of today in Korea unless a date is given, and of no time unless one is', async () => {
  const before = kstDate(Date.now());
  const handoff = await save({ content: 'état 😀' });
  expect([before, kstDate(Date.now())]).toContain(handoff.date);
  expect(handoff).toMatchObject({ ...NAME, id: 1, time: null, version: 1, size_bytes: 10 });
  const other = await save({ date: '2024-02-29', time: '2359', project: ' Caf\u0065\u0301 ', topic: 'État' });
  expect(other).toMatchObject({ id: 2, project: 'Café', topic: 'État', date: '2024-02-29', time: '2359' });
  expect((await get({ project: 'CAFÉ', topic: 'état' })).handoff).toEqual({ ...other, content: 'x' });
});

test('[HAND-1] saved again it is replaced, the earlier text is kept, and the same text changes nothing', async () => {
  const args = { date: '2026-11-20', time: '0930' };
  const first = await save({ ...args, content: 'one' });
  const second = await save({ ...args, content: 'two', project: 'CAIRN' });
  expect(second).toMatchObject({ id: first.id, version: 2, project: 'CAIRN' });
  expect(await save({ ...args, content: 'two' })).toEqual(second);
  expect((await list()).handoffs).toEqual([{ ...second, preview: 'two' }]);
  const read = await get({ ...args, include_versions: true });
  expect(read).toMatchObject({
    handoff: { content: 'two' },
    current_version: 2,
    versions: [{ version: 2 }, { version: 1 }],
  });
  expect(await get({ ...args, version: 1 })).toMatchObject({
    handoff: { content: 'one', version: 1 },
    current_version: 2,
  });
  expect(await refused('handoff_get', { ...NAME, version: 3 }, 404, { code: -32005 })).toMatch(/not available/);
});

test('[HAND-1] project, topic, date and time tell handoffs apart', async () => {
  const all = [
    { date: '2026-11-20' },
    { date: '2026-11-20', time: '0000' },
    { date: '2026-11-20', time: '2359' },
    { date: '2026-11-21' },
    { date: '2026-11-20', topic: 'other' },
    { date: '2026-11-20', project: 'other' },
  ];
  for (const [index, args] of all.entries()) expect((await save({ ...args, content: `${index}` })).id).toBe(index + 1);
  for (const [index, args] of all.entries()) {
    const { handoff } = await get({ time: undefined, ...args });
    if ('time' in args || args.date === '2026-11-21' || 'topic' in args || 'project' in args) {
      expect(handoff.content).toBe(`${index}`);
    }
  }
});

test('[HAND-2] without a date or a time it is the latest that matches, and a day’s own comes before its times', async () => {
  for (const [date, time] of [
    ['2026-11-19', '2200'],
    ['2026-11-20', '0930'],
    ['2026-11-20', undefined],
    ['2026-11-20', '0100'],
    ['2025-12-31', '2200'],
  ]) {
    await save({ date, time, content: `${date} ${time}` });
  }
  const content = async (args: object) => (await get(args)).handoff.content;
  expect(await content({})).toBe('2026-11-20 0930');
  expect(await content({ date: '2026-11-20' })).toBe('2026-11-20 0930');
  expect(await content({ date: '2026-11-19' })).toBe('2026-11-19 2200');
  expect(await content({ time: '2200' })).toBe('2026-11-19 2200');
  expect(await content({ time: '0100', date: '2026-11-20' })).toBe('2026-11-20 0100');
  await save({ date: '2026-11-22', content: 'of no time' });
  expect(await content({})).toBe('of no time');
});

test.each([
  [{ topic: 'none' }, /no handoff of "cairn", "none"/],
  [{ project: 'none' }, /no handoff of "none"/],
  [{ date: '2026-11-19' }, /2026-11-19/],
  [{ time: '0931' }, /0931/],
  [{ date: '2026-11-20', time: '2359' }, /2026-11-20 2359/],
  [{ date: '2026-11-2' }, undefined],
])('[HAND-2] nothing that matches %j is -32005, 404', async (args, sentence) => {
  await save({ date: '2026-11-20', time: '0930' });
  if (sentence === undefined) await refused('handoff_get', { ...NAME, ...args }, 422, { code: -32602 });
  else expect(await refused('handoff_get', { ...NAME, ...args }, 404, { code: -32005 })).toMatch(sentence);
});

test.each([
  [{ topic: 'relase' }, /no handoff of "cairn", "relase"; did you mean "cairn", "release"\?/],
  [{ project: 'Cairns', topic: 'release' }, /did you mean "cairn", "release"\?/],
  [{ topic: 'something else' }, /did you mean "cairn", "release"\?/],
  [{ project: 'garden', topic: 'beans' }, /no handoff of "garden", "beans"(?!.*did you mean)/],
  [{ date: '2026-11-19' }, /2026-11-19(?!.*did you mean)/],
])('[HAND-2] an unknown name %j is refused with the nearest one', async (args, sentence) => {
  await save({ date: '2026-11-20', time: '0930' });
  expect(await refused('handoff_get', { ...NAME, ...args }, 404, { code: -32005 })).toMatch(sentence);
});

test('[HAND-3] a list goes newest first, page by page, with previews and without contents', async () => {
  const long = `  ${'word\n\t'.repeat(60)}${'😀'.repeat(200)}`;
  const days = Array.from({ length: 12 }, (_, n) => `2026-${String(12 - n).padStart(2, '0')}-01`);
  for (const [n, date] of days.entries()) {
    await save({ date, content: long, project: n % 2 === 0 ? 'even' : 'odd', time: n === 3 ? '0700' : undefined });
  }
  const pages: List[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ limit: 5, cursor });
    pages.push(page);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  expect(pages.map(({ count, has_more: more }) => [count, more])).toEqual([
    [5, true],
    [5, true],
    [2, false],
  ]);
  const all = pages.flatMap(({ handoffs }) => handoffs);
  expect(all.map(({ date }) => date)).toEqual(days);
  for (const handoff of all) {
    expect(handoff.preview.length).toBeLessThanOrEqual(200);
    expect(handoff.preview).toMatch(/^word word .*…$/u);
    expect(handoff).not.toHaveProperty('content');
  }
  expect((await list({ project: 'EVEN' })).handoffs.map(({ id }) => id)).toEqual([1, 3, 5, 7, 9, 11]);
  expect((await list({ project: 'none' })).handoffs).toEqual([]);
});

const wrong = [
  ['handoff_save', { time: '2460' }, 'time'],
  ['handoff_save', { time: '2400' }, 'time'],
  ['handoff_save', { time: '0960' }, 'time'],
  ['handoff_save', { time: '9:30' }, 'time'],
  ['handoff_save', { time: '930' }, 'time'],
  ['handoff_save', { date: '2026-02-29' }, 'date'],
  ['handoff_save', { date: '2026-11-31' }, 'date'],
  ['handoff_save', { date: '20261120' }, 'date'],
  ['handoff_save', { date: '2026/11/20' }, 'date'],
  ['handoff_save', { project: ' \u0007' }, 'project'],
  ['handoff_save', { topic: '' }, 'topic'],
  ['handoff_save', { topic: 't'.repeat(101) }, 'topic'],
  ['handoff_save', { content: '' }, 'content'],
  ['handoff_save', { content: '\udfff' }, 'content'],
  ['handoff_save', { title: 'x' }, 'title'],
  ['handoff_get', { date: '2026-13-01' }, 'date'],
  ['handoff_get', { time: '2460' }, 'time'],
  ['handoff_get', { version: 0 }, 'version'],
] as const;

test.each(wrong)('[HAND-1, HAND-2] %s %j is refused, and nothing changed', async (name, args, field) => {
  await save({ date: '2026-11-20' });
  const content = name === 'handoff_save' ? { content: 'y' } : {};
  await refused(name, { ...NAME, ...content, ...args }, 422, { code: -32602, data: { field } });
});

test('[HAND-1, HAND-3] a content above a mebibyte, a wrong limit and a wrong cursor are refused', async () => {
  expect((await save({ content: 'é'.repeat(MIB / 2), date: '2026-11-20' })).size_bytes).toBe(MIB);
  const large = { ...NAME, date: '2026-11-20', content: 'é'.repeat(MIB / 2 + 1) };
  await refused('handoff_save', large, 422, { data: { field: 'content' } });
  for (const [args, field] of [
    [{ limit: 0 }, 'limit'],
    [{ limit: 201 }, 'limit'],
    [{ cursor: '2026' }, 'cursor'],
    [{ project: '\u0000' }, 'project'],
  ] as const) {
    await refused('handoff_list', args, 422, { code: -32602, data: { field } });
  }
});

test('[HAND-2, RPC-8] a short content stands in the text, of a long one the beginning', async () => {
  await save({ content: 'Next: tag it.', date: '2026-11-20', time: '0930' });
  const text = async () => textOf(await callTool(hub, 'handoff_get', NAME, key));
  expect(await text()).toBe('cairn / release, 2026-11-20 0930, version 1:\n\nNext: tag it.');
  await save({ content: 'x'.repeat(MIB), date: '2026-11-20', time: '0930' });
  const long = await text();
  expect(long.length).toBeGreaterThan(64 * 1024);
  expect(long.length).toBeLessThan(65 * 1024);
  expect(long).toMatch(/983040 more bytes; read with id cairn:\/\/handoffs\/cairn\/release to continue$/);
});

test('[HAND-2, KEY-8] another account’s handoffs answer as ones that do not exist', async () => {
  await save({ date: '2026-11-20', content: 'secret' });
  const foreign = await newKey(hub);
  const told = await callTool(hub, 'handoff_get', NAME, foreign);
  expect(told.error).toMatchObject({ code: -32005 });
  expect(structuredOf(await callTool(hub, 'handoff_list', {}, foreign))).toMatchObject({ handoffs: [] });
  await callTool(hub, 'handoff_save', { ...NAME, date: '2026-11-20', content: 'theirs' }, foreign);
  expect((await get()).handoff.content).toBe('secret');
});

test('[HAND-4] handoffs are kept for ever, unless the operator sets days: then listing removes older ones for good', async () => {
  const today = kstDate(Date.now());
  const dayBefore = (days: number) => kstDate(Date.parse(`${today}T03:00:00Z`) - days * 24 * 3600 * 1000);
  const dates = ['1999-12-31', dayBefore(31), dayBefore(30), dayBefore(29), today];
  for (const date of dates) {
    await save({ date, content: 'one' });
    await save({ date, content: 'two' });
  }
  expect((await list()).count).toBe(5);
  await hub.stop();
  hub = await startHub({ dataFolder: hub.dataFolder, env: { CAIRN_HANDOFF_DAYS: '30' } });
  expect((await get({ date: '1999-12-31' })).handoff.content).toBe('two');
  expect((await list()).handoffs.map(({ date }) => date)).toEqual([today, dayBefore(29), dayBefore(30)]);
  expect((await callTool(hub, 'handoff_get', { ...NAME, date: '1999-12-31' }, key)).error?.code).toBe(-32005);
  await hub.stop();
  hub = await startHub({ dataFolder: hub.dataFolder });
  expect((await list()).count).toBe(3);
});
