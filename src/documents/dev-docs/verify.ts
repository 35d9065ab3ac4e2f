/** Checks dev docs: every row against the documents, and that each text exists. Read-only. */
import type { CheckedReader } from '../../store/checked-reader.ts';
import { versionTexts } from '../records.ts';
import { versionKey } from '../texts.ts';
import { verifyVersions } from '../verify.ts';
import { changeScopesOf, listScopesOf } from './indexes.ts';
import {
  type DevDocRecord,
  devDocChanges,
  devDocCounts,
  devDocHeads,
  devDocRows,
  devDocs,
  devDocTitles,
} from './records.ts';
import { foldTitle } from './rules.ts';
import { GramCheck } from './text-index/gram-check.ts';
import { signatureOf } from './text-index/grams.ts';

export interface DevDocsReport {
  /** Number of documents, including the trash. */
  readonly docs: number;
  readonly problems: string[];
}

export function verifyDevDocs(reader: CheckedReader): DevDocsReport {
  const problems: string[] = [];
  const counts = new Map<string, number>();
  const versions = verifyVersions(reader, { space: 'docs', binsReplaced: false });
  const grams = new GramCheck(reader);
  let [docs, live] = [0, 0];
  reader.each(devDocs, ({ key, value }) => {
    const [accountId, id] = key;
    const name = `dev doc ${accountId} ${id}`;
    docs += 1;
    checkDoc(reader, accountId, id, value, problems);
    versions.expect(name, accountId, id, value);
    if (value.deleted_at !== null) {
      versions.expectInBin(name, accountId, id, value.changed_ms);
      return;
    }
    live += 1;
    const category = `${accountId} ${value.category}`;
    counts.set(category, (counts.get(category) ?? 0) + 1);
    const text = reader.get(versionTexts, versionKey({ accountId, space: 'docs', id }, value.version));
    grams.expect(accountId, id, signatureOf(value, text ?? ''));
  });
  grams.finish();
  const surplus = (what: string, found: number, expected: number) => {
    if (found !== expected) problems.push(`${what}: ${found} rows instead of ${expected}`);
  };
  surplus('lists of dev docs', reader.count(devDocRows), live * 4);
  surplus('changes of dev docs', reader.count(devDocChanges), docs * 2);
  checkTitles(reader, live, problems);
  reader.each(devDocCounts, ({ key, value }) => {
    const name = key.join(' ');
    if (counts.get(name) !== value.docs) problems.push(`dev docs of ${name}: the count is wrong`);
    counts.delete(name);
  });
  for (const name of counts.keys()) problems.push(`dev docs of ${name}: the count is missing`);
  return { docs, problems: [...problems, ...versions.problems(), ...grams.problems] };
}

function checkDoc(reader: CheckedReader, accountId: string, id: number, doc: DevDocRecord, problems: string[]): void {
  const name = `dev doc ${accountId} ${id}`;
  const head = reader.get(devDocHeads, [accountId]);
  if (doc.id !== id) problems.push(`${name}: the record has id ${doc.id}`);
  if ((head?.doc_id ?? 0) < id) problems.push(`${name}: its id could be reused`);
  if ((head?.changed_ms ?? 0) < doc.changed_ms)
    problems.push(`${name}: its last change is later than that of the account`);
  for (const scope of changeScopesOf(doc)) {
    if (reader.get(devDocChanges, [accountId, scope, doc.changed_ms]) !== id) {
      problems.push(`${name}: wrong position in the order of changes ${scope}`);
    }
  }
  if (doc.deleted_at !== null) return;
  for (const scope of listScopesOf(doc)) {
    if (reader.get(devDocRows, [accountId, scope, id]) === undefined) problems.push(`${name}: is not in list ${scope}`);
  }
  if (reader.get(devDocTitles, [accountId, foldTitle(doc.title), 'live', doc.category]) !== id) {
    problems.push(`${name}: not found by title`);
  }
}

/**
 * Checks that each live document has a title row, and that each title row of the trash names a deleted document with
 * that title.
 */
function checkTitles(reader: CheckedReader, live: number, problems: string[]): void {
  let found = 0;
  reader.each(devDocTitles, ({ key, value }) => {
    const [accountId, title, state, category] = key;
    if (state === 'live') {
      found += 1;
      return;
    }
    const doc = reader.get(devDocs, [accountId, value]);
    const isIt = doc !== undefined && doc.deleted_at !== null && doc.category === category;
    if (!isIt || foldTitle(doc.title) !== title)
      problems.push(`title ${key.join(' ')}: no deleted dev doc has this title`);
  });
  if (found !== live) problems.push(`titles of dev docs: ${found} rows instead of ${live}`);
}
