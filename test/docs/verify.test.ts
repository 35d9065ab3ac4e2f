/** cairn verify over documents: silent on good data, and exact about every kind of damage to their rows. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  devDocChanges,
  devDocCounts,
  devDocGrams,
  devDocHeads,
  devDocRows,
  devDocs,
  devDocTables,
  devDocTitles,
} from '../../src/docs/records.ts';
import type { Batch } from '../../src/store/group-commit.ts';
import { DATA_FILE, Store } from '../../src/store/store.ts';
import { documentBin, versionRows, versionTables, versionTexts } from '../../src/versions/records.ts';
import { structured } from '../support/gateway.ts';
import { runCairn, startHub, temporaryFolder } from '../support/hub.ts';
import { account } from '../support/mirror.ts';

let pristine: string;
let who: string;

beforeAll(async () => {
  const hub = await startHub();
  pristine = hub.dataFolder;
  const { account_id: id, mcp_key: key } = await account(hub);
  who = id;
  const run = (name: string, args: object) => structured(hub, name, args, key);
  await run('create_dev_doc', { title: 'live.md', content: 'one', category: 'claude' });
  await run('update_dev_doc', { id: 1, content: 'two' });
  await run('create_dev_doc', { title: 'binned.md', content: 'three' });
  await run('delete_dev_doc', { id: 2 });
  await hub.stop();
});

/** What verify says of a copy of the data, changed. */
async function verify(
  change?: (batch: Batch) => void,
): Promise<{ code: number; problems: string[]; dev_docs: number }> {
  const folder = temporaryFolder();
  for (const name of [DATA_FILE, 'master.key']) copyFileSync(join(pristine, name), join(folder, name));
  if (change !== undefined) {
    const store = new Store({ folder, tables: [...versionTables, ...devDocTables] });
    await store.write((batch) => {
      change(batch);
    });
    await store.close();
  }
  const { code, stdout, stderr } = await runCairn(['verify', '--json'], { CAIRN_DATA: folder });
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as { problems: string[]; dev_docs: number }) };
}

function recordOf<K extends (string | number)[], V>(batch: Batch, table: Parameters<Batch['get']>[0], key: K): V {
  const record = batch.get(table, key) as V | undefined;
  if (record === undefined) throw new Error(`${table.name} ${key.join(' ')} is not there`);
  return record;
}

const doc = (batch: Batch, id: number) => recordOf<[string, number], { changed_ms: number }>(batch, devDocs, [who, id]);

test('[OPS-6] verify of good documents exits 0 and counts them', async () => {
  expect(await verify()).toMatchObject({ code: 0, problems: [], dev_docs: 2 });
});

const version = (id: number, number: number): [string, 'docs', number, number] => [who, 'docs', id, number];

const damages: readonly (readonly [string, (batch: Batch) => void, readonly string[]])[] = [
  ['a text is gone', (batch) => batch.remove(versionTexts, version(1, 1)), ['version', '1 1', 'missing']],
  ['a text is another', (batch) => batch.put(versionTexts, version(1, 2), 'two!'), ['another size']],
  ['a text of the same size', (batch) => batch.put(versionTexts, version(1, 2), 'own'), ['text index', 'differs']],
  ['a text belongs to no version', (batch) => batch.put(versionTexts, version(1, 9), 'x'), ['texts of docs']],
  ['the newest version is gone', (batch) => batch.remove(versionRows, version(1, 2)), ['dev doc', 'not the newest']],
  [
    'versions belong to nothing',
    (batch) => batch.put(versionRows, version(9, 1), { size_bytes: 0, json_bytes: 2, created_at: '' }),
    ['9: belong to nothing'],
  ],
  ['a document is gone', (batch) => batch.remove(devDocs, [who, 1]), ['lists of dev docs']],
  ['a title is gone', (batch) => batch.remove(devDocTitles, [who, 'live.md', 'live', 'claude']), ['by its title']],
  ['a title too many', (batch) => batch.put(devDocTitles, [who, 'x', 'live', 'docs'], 1), ['titles of dev docs']],
  [
    'a binned title that is not',
    (batch) => batch.put(devDocTitles, [who, 'x', 'binned', 'docs'], 1),
    ['no binned dev doc'],
  ],
  ['a list lacks it', (batch) => batch.remove(devDocRows, [who, 'markdown:*', 1]), ['is not in list markdown:*']],
  ['a list has too many', (batch) => batch.put(devDocRows, [who, 'text:*', 1], {}), ['lists of dev docs']],
  [
    'a change is gone',
    (batch) => batch.remove(devDocChanges, [who, '*', doc(batch, 1).changed_ms]),
    ['order of changes'],
  ],
  ['a change too many', (batch) => batch.put(devDocChanges, [who, '*', 1], 1), ['changes of dev docs']],
  ['a count is wrong', (batch) => batch.put(devDocCounts, [who, 'claude'], { docs: 7 }), ['claude', 'counted wrong']],
  ['a count is gone', (batch) => batch.remove(devDocCounts, [who, 'claude']), ['claude', 'is missing']],
  [
    'a number can be given again',
    (batch) => batch.put(devDocHeads, [who], { doc_id: 1, changed_ms: 9e15 }),
    ['given again'],
  ],
  [
    'the clock stands back',
    (batch) => batch.put(devDocHeads, [who], { doc_id: 2, changed_ms: 1 }),
    ['behind the last change'],
  ],
  ['the text index lacks a row', (batch) => batch.remove(devDocGrams, gram(batch)), ['text index', 'differs']],
  [
    'the text index has a row too many',
    (batch) => batch.put(devDocGrams, [who, 7, 0], new Uint8Array(16)),
    ['text index of'],
  ],
  [
    'the bin lacks it',
    (batch) => batch.remove(documentBin, [doc(batch, 2).changed_ms, who, 'docs', 2, 0]),
    ['not in the bin'],
  ],
  ['the bin has too many', (batch) => batch.put(documentBin, [5, who, 'docs', 1, 0], {}), ['holds what is not binned']],
];

function gram(batch: Batch): [string, number, number] {
  const [row] = batch.range(devDocGrams, { prefix: [who], limit: 1 });
  return row?.key as [string, number, number];
}

test.each(damages)('[OPS-6] verify tells when %s', async (_, change, words) => {
  const { code, problems } = await verify(change);
  expect(code).toBe(1);
  expect(problems.filter((problem) => words.every((word) => problem.includes(word)))).not.toEqual([]);
});
