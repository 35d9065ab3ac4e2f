/** Exports the documents of one kind to an archive, each followed by its versions, and imports them. */
import { z } from 'zod';
import { damaged, fileOf } from '../archive/format.ts';
import { lastNumber } from '../archive/last-number.ts';
import {
  changedByName,
  type ImportTarget,
  type Instant,
  id,
  importSection,
  instantUpTo,
  text,
} from '../archive/records.ts';
import type { ArchiveWriter, SectionWriter } from '../archive/writer.ts';
import { invalidField, refuseFields } from '../common/fault.ts';
import { changedBy } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import { keyText } from '../store/row-sums.ts';
import type { Snapshot } from '../store/table.ts';
import type { ArchivedDocument, DocumentKind, DocumentRecord, HasCategory } from './kind.ts';
import { documentBin, versionRows, versionTexts } from './records.ts';
import { type DocumentName, putVersion, textErrors } from './texts.ts';
import { binKey, moveRows } from './write.ts';

/** A version. Versions follow their document, oldest first; the last one is current. */
export const versionSchema = (instant: Instant) =>
  z.strictObject({
    type: z.literal('version'),
    version: id,
    created_at: instant,
    changed_by: changedByName,
    content: text(limits.documentBytesMax),
  });

type VersionLine = z.infer<ReturnType<typeof versionSchema>>;

/** The lines of a section: the counters, then the documents in their order, each followed by its versions. */
function sectionSchema<R extends DocumentRecord, H>({ archive }: DocumentKind<R, H>, instant: Instant) {
  return z.discriminatedUnion('type', [
    archive.counters(instant).extend({ type: z.literal('counters') }),
    archive.line(instant),
    versionSchema(instant),
  ]);
}

/** Writes the section of a kind. */
export function exportDocuments<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  snapshot: Snapshot,
  accountId: string,
  hasCategory: HasCategory,
  writer: Pick<ArchiveWriter, 'section'>,
): void {
  const { archive, records, space } = kind;
  const facts = new Set(Object.keys(kind.factsOf('')));
  const bareOf = (record: R) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !facts.has(name))) as ArchivedDocument<R>;
  // A clock that is wrong now, or was, must not keep a record out of the archive.
  writer.section(archive.section, sectionSchema(kind, instantUpTo(Number.POSITIVE_INFINITY)), (output) => {
    const head = snapshot.get(kind.heads, [accountId]);
    // From the documents and not from an index, which may be damaged: the import makes a new one.
    const places: { readonly number: number; readonly place: number }[] = [];
    for (const { key, value } of snapshot.entries(records, { prefix: [accountId] })) {
      places.push({ number: key[1], place: archive.order(bareOf(value)) });
    }
    places.sort((one, other) => one.place - other.place);
    const last = { id: lastNumber(snapshot, records, accountId), place: places.at(-1)?.place ?? 0 };
    if (head === undefined && last.id === 0) return;
    output.write({ type: 'counters', ...archive.countersOf(head, last) });
    for (const { number } of places) {
      const record = snapshot.get(records, [accountId, number]);
      if (record === undefined) continue;
      const line = { type: archive.type, ...archive.lineOf(bareOf(record), hasCategory) };
      exportVersions(snapshot, { accountId, space, id: record.id }, record.version, line, output);
    }
  });
}

/**
 * Writes a document and its versions. When texts are damaged, the newest one that can be read becomes the current one,
 * and of the earlier ones those up to the next gap are kept.
 */
function exportVersions(
  snapshot: Snapshot,
  { accountId, space, id: documentId }: DocumentName,
  newest: number,
  document: { readonly type: string },
  { write, noteMissing }: SectionWriter,
): void {
  const readable: VersionLine[] = [];
  for (const { key, value } of snapshot.entries(versionRows, {
    prefix: [accountId, space, documentId],
    reverse: true,
  })) {
    const [, , , version] = key;
    const [after] = readable;
    const content = version > newest ? undefined : snapshot.get(versionTexts, key);
    if (content !== undefined && (after === undefined || version === after.version - 1)) {
      readable.unshift(
        changedBy<VersionLine>({ type: 'version', version, created_at: value.created_at, content }, value.changed_by),
      );
      continue;
    }
    noteMissing(`version ${keyText(key)}: its text, or the version after it, is missing`);
    if (after !== undefined) break;
  }
  const current = readable.at(-1);
  if (current?.version !== newest) {
    noteMissing(`version ${accountId} ${space} ${documentId} ${newest}: the current text is missing`);
  }
  if (current === undefined || !write({ ...document, version: current.version })) return;
  for (const line of readable) write(line);
}

/** Imports the section of a kind into an account that has none of its documents. */
export async function importDocuments<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  target: ImportTarget,
  hasCategory: HasCategory,
): Promise<void> {
  const { archive } = kind;
  const { actors, accountId, latestMs } = target;
  const versions = new VersionsImport(kind, target);
  let head: H | undefined;
  let last = 0;
  await importSection(target, archive.section, sectionSchema(kind, instantUpTo(latestMs)), (line, wait) => {
    if (line['type'] === 'counters') {
      if (head !== undefined) throw invalidField('type', 'the counters must be the first line, once');
      const made = archive.headOf(line);
      head = made;
      return wait(actors.account(accountId).ask((batch) => batch.put(kind.heads, [accountId], made)));
    }
    if (head === undefined) throw invalidField('type', 'the counters must be the first line');
    if (line['type'] === 'version') return wait(versions.version(line as VersionLine));
    const { type: _, ...shown } = line;
    const document = archive.read(shown, { last, head }, hasCategory);
    last = archive.order(document);
    versions.begin(document);
  });
  versions.finish();
}

/** Writes documents and their versions in the order of the archive. */
class VersionsImport<R extends DocumentRecord, H> {
  readonly #kind: DocumentKind<R, H>;
  readonly #target: ImportTarget;
  #document: ArchivedDocument<R> | undefined;
  #before: VersionLine | undefined;
  /** Each earlier stored version, and when it was replaced. */
  #replaced: { readonly version: number; readonly since: string }[] = [];

  constructor(kind: DocumentKind<R, H>, target: ImportTarget) {
    this.#kind = kind;
    this.#target = target;
  }

  /** Starts the next document. Its versions follow. */
  begin(document: ArchivedDocument<R>): void {
    if (this.#document !== undefined) throw invalidField('type', missing(this.#document));
    [this.#document, this.#before, this.#replaced] = [document, undefined, []];
  }

  /** Writes a version; the last one also writes the document. Resolves when everything is on disk. */
  version(line: VersionLine): Promise<void> {
    const document = this.#document;
    if (document === undefined) throw invalidField('type', 'a version must follow its document');
    const { version, content, created_at: at, changed_by: by } = line;
    const before = this.#before;
    const isNext = version <= document.version && (before === undefined || version === before.version + 1);
    if (!isNext) throw invalidField('version', `version ${version} is not the next version of document ${document.id}`);
    if (before !== undefined && before.created_at > at)
      throw invalidField('created_at', 'created_at is earlier than in the previous version');
    refuseFields(textErrors(content));
    if (before !== undefined) this.#replaced.push({ version: before.version, since: at });
    this.#before = line;
    const { actors, accountId } = this.#target;
    const name: DocumentName = { accountId, space: this.#kind.space, id: document.id };
    const replaced = this.#replaced;
    const isLast = version === document.version;
    if (isLast) this.#document = undefined;
    return actors.account(accountId).ask((batch): void => {
      putVersion(batch, name, version, content, { at, by });
      if (!isLast) return;
      this.#put(batch, document, content);
      for (const one of replaced) this.#keep(batch, name, replaced.length, one);
    });
  }

  /** Call it after the last line. Throws when the last document is incomplete. */
  finish(): void {
    if (this.#document === undefined) return;
    throw damaged(`${fileOf(this.#kind.archive.section)}: ${missing(this.#document)}`);
  }

  #put(batch: Batch, document: ArchivedDocument<R>, content: string): void {
    const { accountId } = this.#target;
    const { records, space, one, archive } = this.#kind;
    // The facts are exactly what an archived document lacks.
    const record = { ...document, ...this.#kind.factsOf(content) } as unknown as R;
    if (batch.get(records, [accountId, record.id]) !== undefined)
      throw invalidField('id', `${one} ${record.id} already exists`);
    archive.admit?.(batch, accountId, record);
    batch.put(records, [accountId, record.id], record);
    moveRows(this.#kind, batch, accountId, undefined, { record, text: () => content });
    if (record.deleted_at != null)
      batch.put(documentBin, binKey(record.deleted_at, { accountId, space, id: record.id }), {});
  }

  /** Keeps an earlier version as a change would have. */
  #keep(
    batch: Batch,
    name: DocumentName,
    earlier: number,
    { version, since }: { version: number; since: string },
  ): void {
    const { keeps, one } = this.#kind;
    if (keeps === 'days') batch.put(documentBin, binKey(since, name, version), {});
    else if (earlier >= keeps) throw invalidField('version', `a ${one} keeps at most ${keeps} versions`);
  }
}

function missing({ id: number, version }: Pick<DocumentRecord, 'id' | 'version'>): string {
  return `version ${version} of document ${number} is missing`;
}
