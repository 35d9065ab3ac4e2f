/** Exports the dev docs of an account to an archive and imports them. */
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
import { invalidField, refuseFields } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Snapshot } from '../../store/table.ts';
import { putInBin } from '../bin.ts';
import { exportDocument, VersionsImport, versionSchema } from '../portable.ts';
import { moveDoc } from './indexes.ts';
import { CONTENT_TYPES, type DevDocRecord, devDocHeads, devDocs, devDocTitles } from './records.ts';
import { cleanTitle, foldCategory, foldTitle, nameErrors } from './rules.ts';
import { moveGrams } from './text-index/gram-index.ts';
import { signatureOf } from './text-index/grams.ts';

/** Records of the section: the counters, then the documents by last change, each followed by its versions. */
export const docRecord = (instant: Instant) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('counters'), doc_id: whole, changed_at: instant }),
    z.strictObject({
      type: z.literal('doc'),
      id,
      title: text(limits.documentTitleCharsMax),
      category: text(limits.devDocCategoryCharsMax),
      content_type: z.enum(CONTENT_TYPES),
      version: id,
      created_at: instant,
      updated_at: instant,
      changed_by: changedByName,
      changed_at: instant,
      deleted_at: instant.nullable(),
    }),
    versionSchema(instant),
  ]);

type Doc = Omit<DevDocRecord, 'size_bytes' | 'json_bytes'>;

export function exportDocs(snapshot: Snapshot, accountId: string, output: SectionWriter): void {
  const head = snapshot.get(devDocHeads, [accountId]);
  // From the documents and not from their index, which may be damaged: the import makes a new one.
  const order: { readonly docId: number; readonly changedMs: number }[] = [];
  for (const { key, value } of snapshot.entries(devDocs, { prefix: [accountId] })) {
    order.push({ docId: key[1], changedMs: value.changed_ms });
  }
  order.sort((one, other) => one.changedMs - other.changedMs);
  if (head === undefined && order.length === 0) return;
  output.write({
    type: 'counters',
    doc_id: Math.max(head?.doc_id ?? 0, lastNumber(snapshot, devDocs, accountId)),
    changed_at: new Date(Math.max(head?.changed_ms ?? 0, order.at(-1)?.changedMs ?? 0)).toISOString(),
  });
  for (const { docId } of order) {
    const stored = snapshot.get(devDocs, [accountId, docId]);
    if (stored === undefined) continue;
    const { size_bytes: _size, json_bytes: _json, changed_ms: changedMs, deleted_at, ...shown } = stored;
    const doc = { type: 'doc', ...shown, changed_at: new Date(changedMs).toISOString(), deleted_at };
    exportDocument(snapshot, { accountId, space: 'docs', id: docId }, doc, output);
  }
}

/** Imports dev docs into an account that has none. */
export async function importDocs(target: ImportTarget): Promise<void> {
  const { actors, accountId, latestMs } = target;
  const versions = new VersionsImport<Doc>({
    target,
    section: 'docs',
    space: 'docs',
    keep(batch, doc, { size, text: content, replaced }) {
      const most = limits.devDocVersionsMax;
      if (replaced.length >= most) throw invalidField('version', `a dev doc keeps at most ${most} versions`);
      put(batch, accountId, { ...doc, ...size }, content);
    },
  });
  let head: { readonly doc_id: number; readonly changed_ms: number } | undefined;
  let lastMs = 0;
  await importSection(target, 'docs', docRecord(instantUpTo(latestMs)), (record, wait) => {
    if (record.type === 'counters') {
      if (head !== undefined) throw invalidField('type', 'the counters must be the first line, once');
      const made = { doc_id: record.doc_id, changed_ms: Date.parse(record.changed_at) };
      head = made;
      return wait(actors.account(accountId).ask((batch) => batch.put(devDocHeads, [accountId], made)));
    }
    if (head === undefined) throw invalidField('type', 'the counters must be the first line');
    if (record.type === 'version') return wait(versions.version(record));
    const { type: _type, changed_at: changedAt, deleted_at, ...shown } = record;
    const changedMs = Date.parse(changedAt);
    if (changedMs <= lastMs) throw invalidField('changed_at', 'dev docs must be in the order of their last change');
    lastMs = changedMs;
    if (changedMs > head.changed_ms || record.id > head.doc_id) {
      throw invalidField('id', 'id or changed_at is above the counters of the archive');
    }
    checkNames(record.title, record.category);
    if (deleted_at !== null && deleted_at !== changedAt)
      throw invalidField('deleted_at', 'deleted_at must be changed_at: deleting is the last change');
    versions.begin({ ...shown, changed_ms: changedMs, deleted_at });
  });
  versions.finish();
}

function checkNames(title: string, category: string): void {
  refuseFields(nameErrors(title, category));
  if (title !== cleanTitle(title) || category !== foldCategory(category)) {
    throw invalidField('title', 'title or category is not in its stored form');
  }
}

function put(batch: Batch, accountId: string, doc: DevDocRecord, content: string): void {
  if (batch.get(devDocs, [accountId, doc.id]) !== undefined)
    throw invalidField('id', `dev doc ${doc.id} already exists`);
  batch.put(devDocs, [accountId, doc.id], doc);
  moveDoc(batch, accountId, undefined, doc);
  if (doc.deleted_at !== null) {
    putInBin(batch, doc.changed_ms, { accountId, space: 'docs', id: doc.id });
    return;
  }
  if (batch.get(devDocTitles, [accountId, foldTitle(doc.title), 'live', doc.category]) !== undefined) {
    throw invalidField('title', `${doc.category} already has a dev doc with this title`);
  }
  moveGrams(batch, accountId, doc.id, undefined, signatureOf(doc, content));
}
