/** Checks papers: every row against the papers, their texts, and the trash. Read-only. */
import type { CheckedReader } from '../../store/checked-reader.ts';
import { verifyVersions } from '../verify.ts';
import { type PaperRecord, paperHeads, paperRows, papers } from './records.ts';
import { scopesOf } from './rules.ts';

export interface PapersReport {
  /** Number of papers, including the trash. */
  readonly papers: number;
  readonly problems: string[];
}

export function verifyPapers(reader: CheckedReader): PapersReport {
  const problems: string[] = [];
  const versions = verifyVersions(reader, { space: 'papers', binsReplaced: false });
  let [found, rows] = [0, 0];
  reader.each(papers, ({ key, value }) => {
    const [accountId, id] = key;
    const name = `paper ${accountId} ${id}`;
    found += 1;
    checkPaper(reader, accountId, id, value, problems);
    versions.expect(name, accountId, id, value);
    if (value.deleted_at === null) rows += scopesOf(value).length;
    else versions.expectInBin(name, accountId, id, Date.parse(value.deleted_at));
  });
  const listed = reader.count(paperRows);
  if (listed !== rows) problems.push(`lists of papers: ${listed} rows instead of ${rows}`);
  return { papers: found, problems: [...problems, ...versions.problems()] };
}

function checkPaper(
  reader: CheckedReader,
  accountId: string,
  id: number,
  paper: PaperRecord,
  problems: string[],
): void {
  const name = `paper ${accountId} ${id}`;
  if (paper.id !== id) problems.push(`${name}: the record has id ${paper.id}`);
  if ((reader.get(paperHeads, [accountId])?.paper_id ?? 0) < id) problems.push(`${name}: its id could be reused`);
  if (paper.published !== (paper.published_at !== null)) problems.push(`${name}: its state contradicts its time`);
  if (paper.deleted_at !== null) return;
  for (const scope of scopesOf(paper)) {
    if (reader.get(paperRows, [accountId, scope, id]) === undefined) problems.push(`${name}: is not in list ${scope}`);
  }
}
