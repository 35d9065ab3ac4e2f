/** What an account keeps is found by words, over the tool and REST. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { callTool, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Device, newDevice } from '../support/sync.ts';
import { useHub, withHub } from '../support/use-hub.ts';

interface FoundPage {
  readonly results: readonly { id: string; title: string; kind: string; lines: { line: number; text: string }[] }[];
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly missing: readonly string[];
  readonly without?: readonly string[];
  readonly cursor?: string;
}

const hub = useHub({ loudest: 30 });
let owner: Device;
let other: Device;

const find = (query: string, more: object = {}, who = owner) =>
  structured<FoundPage>(hub, 'search', { query, ...more }, who.key);
const titles = async (query: string, more: object = {}) => (await find(query, more)).results.map(({ title }) => title);

beforeAll(async () => {
  owner = await newDevice(hub, 'laptop');
  other = await newDevice(hub, 'phone');
  await owner.push('notes/garden.md', '# Garden\n\nWater the plants on Monday.\nSaffron needs sun.\n');
  await owner.push('notes/김치.md', '할머니의 김치찌개 레시피\n');
  await owner.push('日記.md', '東京の天気は晴れでした。\n');
  const make = (name: string, args: object) => callTool(hub, name, args, owner.key);
  await make('create_task', { content: 'Move the database to SQLite' });
  await make('create_dev_doc', { title: 'saffron.md', content: 'A colour.' });
  await make('handoff_save', { project: 'cairn', topic: 'release', content: 'Next: tag the release.' });
  await make('create_paper', { title: 'On cairns', content: 'Stones beside saffron fields.' });
});

test('[FIND-4] every kind is found: all words in any order, beginnings, other forms and small slips', async () => {
  for (const [query, title] of [
    ['plants water', 'garden.md'],
    ['databases sqlite', 'Move the database to SQLite'],
    ['datab', 'Move the database to SQLite'],
    ['safron sun', 'garden.md'],
    ['tagged release', 'release'],
    ['stones', 'On cairns'],
    ['김치찌개', '김치.md'],
    ['東京の天気', '日記.md'],
  ] as const)
    expect([query, await titles(query)]).toEqual([query, [title]]);
});

test('[FIND-4] between words, OR makes some of them enough and AND is no word; in small letters both are words', async () => {
  expect((await titles('garden OR sqlite')).toSorted()).toEqual(['Move the database to SQLite', 'garden.md']);
  expect(await find('garden OR sqlite')).toMatchObject({ total: 2, missing: [] });
  expect(await titles('saffron AND garden')).toEqual(await titles('saffron garden'));
  expect(await find('saffron or garden')).toMatchObject({ total: 0, missing: ['or'] });
  expect(await find('OR saffron')).toMatchObject({ total: 0, missing: ['or'] });
});

test('[FIND-4] what is quoted is found word for word, in its order; a hyphen before a word or a quote leaves it out', async () => {
  for (const [query, expected] of [
    ['"Saffron needs sun"', ['garden.md']],
    ['“plants on monday”', ['garden.md']],
    // Over the end of a line, and over signs.
    ['"monday saffron"', ['garden.md']],
    ['"monday saffron" plants', ['garden.md']],
    ['"plants on monday" OR sqlite', ['Move the database to SQLite', 'garden.md']],
    ['"on plants monday" OR sqlite', ['Move the database to SQLite']],
    ['"saffron.md"', ['saffron.md']],
    ['"東京の天気"', ['日記.md']],
    ['"京"', ['日記.md']],
    ['saffron -stones', ['garden.md', 'saffron.md']],
    ['saffron -garden -stones', ['saffron.md']],
    ['saffron -"needs sun"', ['On cairns', 'saffron.md']],
    ['saffron -"sun needs"', ['On cairns', 'garden.md', 'saffron.md']],
    ['saffron -stone', ['On cairns', 'garden.md', 'saffron.md']],
    ['saffron-needs', ['garden.md']],
    ['日記 -京', []],
    // One sign: at the beginning of a run, within it, and at its end.
    ['東', ['日記.md']],
    ['の', ['日記.md']],
    ['気', ['日記.md']],
    ['"た"', ['日記.md']],
    ['레', ['김치.md']],
    ['피', ['김치.md']],
  ] as const)
    expect([query, (await titles(query)).toSorted()]).toEqual([query, expected]);
  expect(await find('"needs saffron"')).toMatchObject({ total: 0, counts: {}, missing: ['"needs saffron"'] });
  // A phrase is missing, or each of its words has another place.
  expect(await find('"saffron sqlite"')).toMatchObject({ total: 0, missing: ['"saffron sqlite"'] });
  expect(await find('"needs sun" sqlite')).toMatchObject({ total: 0, missing: [] });
  expect(await find('"needs sun" "stones beside"')).toMatchObject({ total: 0, missing: [] });
  expect(await find('"needs sun" "sun needs" sqlite')).toMatchObject({ total: 0, missing: ['"sun needs"'] });
  // What was taken as an exclusion is told.
  expect(await find('saffron -rf')).toMatchObject({ total: 3, without: ['rf'] });
  expect(await find('saffron -a-b -"needs sun"')).toMatchObject({ total: 2, without: ['"a b"', '"needs sun"'] });
  expect(await find('saffron "-rf"')).not.toHaveProperty('without');
  expect(await find('"plant"')).toMatchObject({ total: 0, missing: ['plant'] });
  expect(await find('saffron --needs')).toMatchObject({ total: 1 });
  expect(await find('"saffron needs"', { in: 'paper' })).toMatchObject({ total: 0, results: [], counts: { file: 1 } });
  const [found] = (await find('"plants on monday"')).results;
  expect(found?.lines).toEqual([{ line: 3, text: 'Water the plants on Monday.' }]);
  // What no index has is missing.
  expect(await find(' 🦀?! ')).toMatchObject({ total: 0, missing: ['🦀?!'] });
  const refused = await callTool(hub, 'search', { query: '-saffron -"needs sun"' }, owner.key);
  expect(refused.error).toMatchObject({ code: -32602, data: { field: 'query' } });
});

test('[FIND-4] letters that a keyboard lacks are found as people type them, and the other way', async () => {
  await owner.push('travel.md', 'Von der Hauptstraße nach Łódź, København und Þingvellir.\n');
  for (const query of ['hauptstrasse', 'HAUPTSTRASSE', 'Hauptstraße', 'lodz', 'Łodz', 'kobenhavn', 'thingvellir'])
    expect([query, await titles(query)]).toEqual([query, ['travel.md']]);
  expect(await titles('"Hauptstrasse nach Lodz"')).toEqual(['travel.md']);
});

test('[FIND-4] a name stands before a text; lines are numbered; a missing word is named; kinds are counted', async () => {
  const found = await find('saffron');
  expect(found.results[0]?.title).toBe('saffron.md');
  expect(found).toMatchObject({ total: 3, counts: { doc: 1, file: 1, paper: 1 }, missing: [] });
  expect(found.results.find(({ kind }) => kind === 'file')?.lines).toEqual([{ line: 4, text: 'Saffron needs sun.' }]);
  expect(await titles('saffron', { in: 'paper' })).toEqual(['On cairns']);
  expect(await find('saffron zzzzqq')).toMatchObject({ total: 0, missing: ['zzzzqq'] });
});

test('[FIND-4] pages follow one another by cursor, and REST answers as the tool', async () => {
  const first = await find('saffron', { limit: 2 });
  const rest = await find('saffron', { limit: 2, cursor: first.cursor });
  expect([first.results.length, rest.results.length, rest.cursor]).toEqual([2, 1, undefined]);
  const answer = await call(hub, '/api/search?query=saffron', { headers: withKey(owner.key) });
  expect([answer.status, answer.json()]).toEqual([200, await find('saffron')]);
});

test('[FIND-5] an answered write is in the next search of its caller, and in no search of another account', async () => {
  for (let round = 1; round <= 20; round += 1) {
    await owner.push(`r/${round}.txt`, `pebble${round}x`);
    expect(await titles(`pebble${round}x`)).toEqual([`${round}.txt`]);
  }
  await callTool(hub, 'delete_task', { id: 1 }, owner.key);
  expect(await titles('sqlite')).toEqual([]);
  expect(await find('saffron', {}, other)).toMatchObject({ total: 0, missing: ['saffron'] });
});

test('[FIND-4] a cursor continues its own ranking: nothing twice, nothing left out, whatever is written between', async () => {
  for (let made = 1; made <= 12; made += 1) await owner.push(`q/${made}.md`, 'granite');
  const first = await find('granite', { limit: 5 });
  await owner.push('q/granite.md', 'granite granite');
  const second = await find('granite', { limit: 5, cursor: first.cursor });
  const third = await find('granite', { limit: 5, cursor: second.cursor });
  const all = [first, second, third].flatMap(({ results }) => results.map(({ id }) => id));
  expect([new Set(all).size, all.length, third.cursor]).toEqual([12, 12, undefined]);
  const stolen = await find('granite', { limit: 5, cursor: first.cursor }, other);
  expect(stolen).toMatchObject({ results: [], total: 0 });
});

test('[FIND-5] what an empty account was searched for is found once it is there', async () => {
  const fresh = await newDevice(hub, 'fresh');
  expect(await find('schist', {}, fresh)).toMatchObject({ total: 0, missing: ['schist'] });
  await fresh.push('first.md', 'schist');
  expect(await find('schist', {}, fresh)).toMatchObject({ total: 1, missing: [] });
});

test('[FIND-5] a deleted vault is found no more, and its files are not counted', async () => {
  const { vault_id: vault } = await structured<{ vault_id: string }>(hub, 'vault_create', { name: 'short' }, owner.key);
  await owner.push('gone.md', 'obsidian', { vault_id: vault });
  expect(await find('obsidian')).toMatchObject({ total: 1 });
  await structured(hub, 'vault_delete', { vault_id: vault, confirm: 'short' }, owner.key);
  expect(await find('obsidian')).toMatchObject({ results: [], total: 0 });
});

test('[FIND-4] the same question twice has the same answer, its cursor too', async () => {
  for (let made = 1; made <= 6; made += 1) await owner.push(`s/${made}.md`, 'basalt');
  const first = await find('basalt', { limit: 2 });
  expect(first.cursor).toEqual(expect.any(String));
  await find('saffron', { limit: 1 });
  expect(await find('basalt', { limit: 2 })).toEqual(first);
});

test('[FIND-5] a deleted vault is counted no more by the first search, however many files it had', async () => {
  const { vault_id: vault } = await structured<{ vault_id: string }>(hub, 'vault_create', { name: 'large' }, owner.key);
  for (let made = 1; made <= 40; made += 1) await owner.push(`${made}.md`, 'gneiss', { vault_id: vault });
  await owner.push('t/kept.md', 'gneiss, gneiss');
  expect(await find('gneiss', { limit: 1 })).toMatchObject({ total: 41 });
  await structured(hub, 'vault_delete', { vault_id: vault, confirm: 'large' }, owner.key);
  for (let asked = 1; asked <= 2; asked += 1) {
    const found = await find('gneiss', { limit: 1 });
    expect(found).toMatchObject({ results: [{ title: 'kept.md' }], total: 1, counts: { file: 1 } });
    expect(found.cursor).toBeUndefined();
  }
});

/** How many threads of a hub have each priority; field 19 of proc(5), /proc/PID/task/TID/stat. */
function threadsByNice(pid: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    const nice = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    counts.set(nice, (counts.get(nice) ?? 0) + 1);
  }
  return counts;
}

test.runIf(process.platform === 'linux')('[NET-15] the thread of the search has a lower priority', async () => {
  await withHub({}, async (fresh) => {
    const someone = await newDevice(fresh, 'laptop');
    const pid = fresh.process.pid ?? 0;
    const lowered = () => threadsByNice(pid).get(limits.poolNice + getPriority(pid)) ?? 0;
    const before = lowered();
    await structured(fresh, 'search', { query: 'nothing' }, someone.key);
    expect(lowered()).toBe(before + 1);
  });
});
