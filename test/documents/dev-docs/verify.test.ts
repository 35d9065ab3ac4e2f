/** cairn verify over dev docs, handoffs and papers: silent on good data, and exact about every kind of damage to their rows. */

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { allTables } from '../../../src/compose/tables.ts';
import { devDocKind } from '../../../src/documents/dev-docs/kind.ts';
import {
  devDocChanges,
  devDocCounts,
  devDocHeads,
  devDocRows,
  devDocs,
  devDocTitles,
} from '../../../src/documents/dev-docs/records.ts';
import { handoffKind } from '../../../src/documents/handoffs/kind.ts';
import { handoffHeads, handoffNames, handoffRows, handoffs } from '../../../src/documents/handoffs/records.ts';
import type { PaperRecord } from '../../../src/documents/papers/declared.ts';
import { paperKind } from '../../../src/documents/papers/kind.ts';
import { paperHeads, paperRows, papers } from '../../../src/documents/papers/records.ts';
import { documentBin, type Space, type VersionKey, versionRows, versionTexts } from '../../../src/documents/records.ts';
import { verifyDocuments } from '../../../src/documents/verify.ts';
import { CheckedReader } from '../../../src/store/checked-reader.ts';
import { DATA_FILE } from '../../../src/store/data-file/names.ts';
import type { Batch } from '../../../src/store/group-commit.ts';
import { Store } from '../../../src/store/store.ts';
import { forge } from '../../support/forge.ts';
import { accessToken, structured } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { runCairn, startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let pristine: string;
let who: string;

beforeAll(async () => {
  const hub = await startHub();
  pristine = hub.dataFolder;
  const { account_id: id, mcp_key: key, email } = await account(hub);
  who = id;
  const run = (name: string, args: object) => structured(hub, name, args, key);
  await run('create_dev_doc', { title: 'live.md', content: 'one', category: 'claude' });
  await run('update_dev_doc', { id: 1, content: 'two' });
  await run('create_dev_doc', { title: 'binned.md', content: 'three' });
  await run('delete_dev_doc', { id: 2 });
  const name = { project: 'P', topic: 't', date: '2026-11-20', time: '0930' };
  await run('handoff_save', { ...name, content: 'one' });
  await run('handoff_save', { ...name, content: 'two' });
  const headers = { Authorization: `Bearer ${await accessToken(hub, email)}`, 'Content-Type': 'application/json' };
  for (const title of ['draft', 'binned']) {
    const body = JSON.stringify({ title, content: title });
    await call(hub, '/api/papers', { method: 'POST', headers, body });
  }
  await call(hub, '/api/papers/2', { method: 'DELETE', headers });
  await hub.stop();
});

/** A copy of the data, changed. */
async function changed(
  change: (batch: Batch) => void,
): Promise<{ readonly folder: string; readonly problems: string[] }> {
  const folder = temporaryFolder();
  for (const name of [DATA_FILE, 'master.key']) copyFileSync(join(pristine, name), join(folder, name));
  const store = new Store({ folder, tables: allTables });
  await forge(store, change);
  const reader = new CheckedReader(store);
  const parts = [
    verifyDocuments(reader, devDocKind),
    verifyDocuments(reader, handoffKind),
    verifyDocuments(reader, paperKind),
  ];
  await store.close();
  return { folder, problems: [...reader.problems, ...parts.flatMap(({ problems }) => problems)] };
}

/** What the command says of it. */
async function verify(folder: string): Promise<{ code: number; problems: string[] }> {
  const { code, stdout, stderr } = await runCairn(['verify', '--json'], { CAIRN_DATA: folder });
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as { problems: string[] }) };
}

function recordOf<K extends (string | number)[], V>(batch: Batch, table: Parameters<Batch['get']>[0], key: K): V {
  const record = batch.get(table, key) as V | undefined;
  if (record === undefined) throw new Error(`${table.name} ${key.join(' ')} is not there`);
  return record;
}

const doc = (batch: Batch, id: number) => recordOf<[string, number], { changed_ms: number }>(batch, devDocs, [who, id]);

test('[OPS-6] verify of good documents exits 0 and counts them', async () => {
  expect(await verify(pristine)).toMatchObject({ code: 0, problems: [], dev_docs: 2, handoffs: 1, papers: 2 });
});

const version = (id: number, number: number, space: Space = 'docs'): VersionKey => [who, space, id, number];
test('[OPS-6] damage to documents makes the command exit 1 with what is wrong', async () => {
  for (const change of [
    (batch: Batch) => batch.remove(devDocRows, [who, '*:*', 1]),
    (batch: Batch) => batch.remove(handoffHeads, [who]),
  ]) {
    const { folder, problems } = await changed(change);
    expect(problems.length).toBeGreaterThan(0);
    expect(await verify(folder)).toMatchObject({ code: 1, problems });
  }
});

const handoffPlace = '2026-11-20 0930 000000000000001';
const HANDOFF = 'd2026-11-20 0930';

const damages: readonly (readonly [string, (batch: Batch) => void, readonly string[]])[] = [
  ['a text is gone', (batch) => batch.remove(versionTexts, version(1, 1)), ['version', '1 1', 'missing']],
  ['a text is another', (batch) => batch.put(versionTexts, version(1, 2), 'two!'), ['wrong size']],
  ['a text belongs to no version', (batch) => batch.put(versionTexts, version(1, 9), 'x'), ['texts of docs']],
  ['the newest version is gone', (batch) => batch.remove(versionRows, version(1, 2)), ['dev doc', 'not the latest']],
  [
    'versions belong to nothing',
    (batch) => batch.put(versionRows, version(9, 1), { size_bytes: 0, json_bytes: 2, created_at: '' }),
    ['9: belong to nothing'],
  ],
  ['a document is gone', (batch) => batch.remove(devDocs, [who, 1]), ['lists of dev docs']],
  ['a title is gone', (batch) => batch.remove(devDocTitles, [who, 'live.md', 'live', 'claude']), ['by title']],
  ['a title too many', (batch) => batch.put(devDocTitles, [who, 'x', 'live', 'docs'], 1), ['titles of dev docs']],
  [
    'a binned title that is not',
    (batch) => batch.put(devDocTitles, [who, 'x', 'binned', 'docs'], 1),
    ['no deleted dev doc'],
  ],
  ['a list lacks it', (batch) => batch.remove(devDocRows, [who, 'markdown:*', 1]), ['is not in list markdown:*']],
  ['a list has too many', (batch) => batch.put(devDocRows, [who, 'text:*', 1], {}), ['lists of dev docs']],
  [
    'a change is gone',
    (batch) => batch.remove(devDocChanges, [who, '*', doc(batch, 1).changed_ms]),
    ['order of changes'],
  ],
  ['a change too many', (batch) => batch.put(devDocChanges, [who, '*', 1], 1), ['changes of dev docs']],
  ['a count is wrong', (batch) => batch.put(devDocCounts, [who, 'claude'], { docs: 7 }), ['claude', 'count is wrong']],
  ['a count is gone', (batch) => batch.remove(devDocCounts, [who, 'claude']), ['claude', 'is missing']],
  [
    'a number can be given again',
    (batch) => batch.put(devDocHeads, [who], { doc_id: 1, changed_ms: 9e15 }),
    ['could be reused'],
  ],
  [
    'the clock stands back',
    (batch) => batch.put(devDocHeads, [who], { doc_id: 2, changed_ms: 1 }),
    ['last change is later'],
  ],
  [
    'the bin lacks it',
    (batch) => batch.remove(documentBin, [doc(batch, 2).changed_ms, who, 'docs', 2, 0]),
    ['not in the trash'],
  ],
  ['the bin has too many', (batch) => batch.put(documentBin, [5, who, 'docs', 1, 0], {}), ['not deleted']],
  ['a handoff is gone', (batch) => batch.remove(handoffs, [who, 1]), ['names of handoffs']],
  ['a handoff has no name', (batch) => batch.remove(handoffNames, [who, 'p', 't', HANDOFF]), ['handoff', 'by name']],
  [
    'a handoff has another name',
    (batch) => batch.put(handoffNames, [who, 'p', 't', 'd'], { id: 1 }),
    ['names of handoffs'],
  ],
  ['a list lacks a handoff', (batch) => batch.remove(handoffRows, [who, '=p', handoffPlace]), ['is not in list =p']],
  [
    'a list has a handoff too many',
    (batch) => batch.put(handoffRows, [who, '*', ''], { id: 1 }),
    ['lists of handoffs'],
  ],
  ['a handoff can be given again', (batch) => batch.remove(handoffHeads, [who]), ['handoff', 'could be reused']],
  [
    'an earlier text is not in the bin',
    (batch) => batch.remove(documentBin, earlier(batch)),
    ['handoffs 1 1', 'not in the trash'],
  ],
  ['a paper is gone', (batch) => batch.remove(papers, [who, 1]), ['lists of papers']],
  ['a list lacks a paper', (batch) => batch.remove(paperRows, [who, 'draft:*', 1]), ['is not in list draft:*']],
  ['a list has a paper too many', (batch) => batch.put(paperRows, [who, '*:9', 1], {}), ['lists of papers']],
  ['a paper can be given again', (batch) => batch.remove(paperHeads, [who]), ['paper', 'could be reused']],
  [
    'a binned paper is not in the bin',
    (batch) => batch.remove(documentBin, binnedPaper(batch)),
    ['paper', 'not in the trash'],
  ],
  ['a paper is half published', publishHalf, ['paper', 'contradicts']],
  ['a paper’s text is gone', (batch) => batch.remove(versionTexts, version(1, 1, 'papers')), ['missing']],
  ['a handoff’s text is gone', (batch) => batch.remove(versionTexts, version(1, 2, 'handoffs')), ['missing']],
];

function publishHalf(batch: Batch): void {
  const paper: PaperRecord = recordOf(batch, papers, [who, 1]);
  batch.put(papers, [who, 1], { ...paper, published_at: paper.created_at });
}

function binnedPaper(batch: Batch): [number, string, Space, number, number] {
  return binnedIn(batch, 'papers');
}

function earlier(batch: Batch): [number, string, Space, number, number] {
  return binnedIn(batch, 'handoffs');
}

function binnedIn(batch: Batch, space: Space): [number, string, Space, number, number] {
  const row = batch.range(documentBin, { prefix: [] }).find(({ key }) => key[2] === space);
  return row?.key as [number, string, Space, number, number];
}

test.each(damages)('[OPS-6] verify tells when %s', async (_, change, words) => {
  const { problems } = await changed(change);
  expect(problems.filter((problem) => words.every((word) => problem.includes(word)))).not.toEqual([]);
});
