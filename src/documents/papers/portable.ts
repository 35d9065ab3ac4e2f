/** Exports the papers of an account to an archive and imports them. */
import { z } from 'zod';
import { lastNumber } from '../../archive/last-number.ts';
import {
  changedByName,
  type ImportTarget,
  type Instant,
  id,
  importSection,
  instantUpTo,
  text,
  whole,
} from '../../archive/records.ts';
import type { SectionWriter } from '../../archive/writer.ts';
import { invalidField } from '../../common/fault.ts';
import { readFields } from '../../fields/read.ts';
import { limits } from '../../limits/service.ts';
import type { Snapshot } from '../../store/table.ts';
import { putInBin } from '../bin.ts';
import { exportDocument, VersionsImport, versionSchema } from '../portable.ts';
import { newPaper } from './fields.ts';
import { type PaperRecord, paperHeads, papers } from './records.ts';
import { moveRows } from './service.ts';

/** Records of the section: the counters, then the papers by number, each followed by its text. */
export const paperRecord = (instant: Instant) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('counters'), paper_id: whole }),
    z.strictObject({
      type: z.literal('paper'),
      id,
      title: text(limits.documentTitleCharsMax),
      category_id: id.nullable(),
      published: z.boolean(),
      published_at: instant.nullable(),
      version: id,
      created_at: instant,
      updated_at: instant,
      deleted_at: instant.nullable(),
      changed_by: changedByName,
    }),
    versionSchema(instant),
  ]);

type Paper = Omit<PaperRecord, 'size_bytes' | 'json_bytes'>;

/** `hasCategory`: true when the account has the category. A deleted category is exported as null. */
export function exportPapers(
  snapshot: Snapshot,
  accountId: string,
  hasCategory: (id: number) => boolean,
  output: SectionWriter,
): void {
  const head = snapshot.get(paperHeads, [accountId]);
  const last = lastNumber(snapshot, papers, accountId);
  if (head === undefined && last === 0) return;
  output.write({ type: 'counters', paper_id: Math.max(head?.paper_id ?? 0, last) });
  for (const { value } of snapshot.entries(papers, { prefix: [accountId] })) {
    const { size_bytes: _size, json_bytes: _json, ...shown } = value;
    const isGone = value.category_id !== null && !hasCategory(value.category_id);
    const paper = { type: 'paper', ...shown, category_id: isGone ? null : value.category_id };
    exportDocument(snapshot, { accountId, space: 'papers', id: value.id }, paper, output);
  }
}

/** Imports papers into an account that has none. */
export async function importPapers(target: ImportTarget, hasCategory: (id: number) => boolean): Promise<void> {
  const { actors, accountId, latestMs } = target;
  const versions = new VersionsImport<Paper>({
    target,
    section: 'papers',
    space: 'papers',
    keep(batch, shown, { size, replaced }) {
      if (replaced.length > 0) throw invalidField('version', 'a paper keeps only its current version');
      const paper = { ...shown, ...size };
      batch.put(papers, [accountId, paper.id], paper);
      if (paper.deleted_at === null) moveRows(batch, accountId, undefined, paper);
      else putInBin(batch, Date.parse(paper.deleted_at), { accountId, space: 'papers', id: paper.id });
    },
  });
  let head: { readonly paper_id: number } | undefined;
  let last = 0;
  await importSection(target, 'papers', paperRecord(instantUpTo(latestMs)), ({ type, ...record }, wait) => {
    if (type === 'counters') {
      if (head !== undefined) throw invalidField('type', 'the counters must be the first line, once');
      const made = record as { readonly paper_id: number };
      head = made;
      return wait(actors.account(accountId).ask((batch) => batch.put(paperHeads, [accountId], made)));
    }
    if (head === undefined) throw invalidField('type', 'the counters must be the first line');
    if (type === 'version') {
      return wait(versions.version({ type, ...record } as Parameters<typeof versions.version>[0]));
    }
    const paper = record as Paper;
    if (paper.id <= last || paper.id > head.paper_id) {
      throw invalidField('id', `id ${paper.id} must be above ${last}, and at most the counter of the archive`);
    }
    last = paper.id;
    const { title, category_id, published } = paper;
    if (readFields(newPaper, { title, category_id, published }).title !== title) {
      throw invalidField('title', 'title is not in its stored form');
    }
    if (category_id !== null && !hasCategory(category_id)) {
      throw invalidField('category_id', 'category_id is not a category of the archive');
    }
    if (published !== (paper.published_at !== null))
      throw invalidField('published_at', 'published contradicts published_at');
    versions.begin(paper);
  });
  versions.finish();
}
