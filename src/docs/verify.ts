/** Checks dev docs: every row against the documents themselves, and that each text is there. Only reads. */
import type { CheckedReader } from '../store/checked-reader.ts';
import { verifyVersions } from '../versions/verify.ts';
import { changeScopesOf } from './indexes.ts';
import { type DevDocRecord, devDocChanges, devDocCounts, devDocHeads, devDocs, devDocTitles } from './records.ts';
import { foldTitle } from './rules.ts';

export interface DevDocsReport {
  /** Binned ones too. */
  readonly docs: number;
  readonly problems: string[];
}

export function verifyDevDocs(reader: CheckedReader): DevDocsReport {
  const problems: string[] = [];
  const counts = new Map<string, number>();
  let [docs, live] = [0, 0];
  const versions = verifyVersions(reader, 'docs');
  for (const { key, value } of reader.walk(devDocs)) {
    const [accountId, id] = key;
    docs += 1;
    checkDoc(reader, accountId, id, value, problems);
    versions.expect(`dev doc ${accountId} ${id}`, accountId, id, value);
    if (value.deleted_at !== null) continue;
    live += 1;
    const name = `${accountId} ${value.category}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const surplus = (what: string, found: number, expected: number) => {
    if (found !== expected) problems.push(`${what}: ${found} rows for ${expected} that there should be`);
  };
  surplus('titles of dev docs', countOf(reader.keys(devDocTitles)), live);
  surplus('changes of dev docs', countOf(reader.keys(devDocChanges)), docs * 2);
  for (const { key, value } of reader.walk(devDocCounts)) {
    const name = key.join(' ');
    if (counts.get(name) !== value.docs) problems.push(`dev docs of ${name}: counted wrong`);
    counts.delete(name);
  }
  for (const name of counts.keys()) problems.push(`dev docs of ${name}: their count is missing`);
  return { docs, problems: [...problems, ...versions.problems()] };
}

function checkDoc(reader: CheckedReader, accountId: string, id: number, doc: DevDocRecord, problems: string[]): void {
  const name = `dev doc ${accountId} ${id}`;
  const head = reader.get(devDocHeads, [accountId]);
  if (doc.id !== id) problems.push(`${name}: says that it is ${doc.id}`);
  if ((head?.doc_id ?? 0) < id) problems.push(`${name}: its number can be given again`);
  if ((head?.changed_ms ?? 0) < doc.changed_ms) problems.push(`${name}: changed behind the last change`);
  for (const scope of changeScopesOf(doc)) {
    if (reader.get(devDocChanges, [accountId, scope, doc.changed_ms]) !== id) {
      problems.push(`${name}: stands wrong in the order of changes ${scope}`);
    }
  }
  if (doc.deleted_at !== null) return;
  if (reader.get(devDocTitles, [accountId, foldTitle(doc.title), doc.category]) !== id) {
    problems.push(`${name}: is not found by its title`);
  }
}

function countOf(keys: Iterable<unknown>): number {
  let count = 0;
  for (const _ of keys) count += 1;
  return count;
}
