/** Exports the versions of a document to an archive, after the document, and imports them. */
import { z } from 'zod';
import { type ArchiveSection, damaged, fileOf } from '../archive/format.ts';
import { changedByName, type ImportTarget, type Instant, id, text } from '../archive/records.ts';
import type { SectionWriter } from '../archive/writer.ts';
import { invalidField, refuseFields } from '../common/fault.ts';
import { changedBy } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Snapshot } from '../store/table.ts';
import { type Space, versionRows, versionTexts } from './records.ts';
import { type DocumentName, measure, putVersion, textErrors } from './texts.ts';

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

/**
 * Writes a document and its versions. When texts are damaged, the newest one that can be read becomes the current one,
 * and of the earlier ones those up to the next gap are kept.
 */
export function exportDocument(
  snapshot: Snapshot,
  { accountId, space, id }: DocumentName,
  document: { readonly type: string; readonly version: number },
  { write, noteMissing }: SectionWriter,
): void {
  const readable: VersionLine[] = [];
  for (const { key, value } of snapshot.entries(versionRows, { prefix: [accountId, space, id], reverse: true })) {
    const [, , , version] = key;
    const [after] = readable;
    const content = version > document.version ? undefined : snapshot.get(versionTexts, key);
    if (content !== undefined && (after === undefined || version === after.version - 1)) {
      readable.unshift(
        changedBy<VersionLine>({ type: 'version', version, created_at: value.created_at, content }, value.changed_by),
      );
      continue;
    }
    noteMissing(`version ${key.join(' ')}: its text, or the version after it, is missing`);
    if (after !== undefined) break;
  }
  const current = readable.at(-1);
  if (current?.version !== document.version) {
    noteMissing(`version ${accountId} ${space} ${id} ${document.version}: the current text is missing`);
  }
  if (current === undefined || !write({ ...document, version: current.version })) return;
  for (const line of readable) write(line);
}

interface Numbered {
  readonly id: number;
  readonly version: number;
}

/** Current text of an imported document, and the versions it replaced. */
export interface ReadVersions {
  readonly text: string;
  readonly size: ReturnType<typeof measure>;
  /** Each earlier stored version, and when it was replaced. */
  readonly replaced: readonly { readonly version: number; readonly sinceMs: number }[];
}

export interface VersionsTarget<D> {
  readonly target: ImportTarget;
  readonly section: ArchiveSection;
  readonly space: Space;
  /** Writes the document itself, in the decision that writes its last version. */
  readonly keep: (batch: Batch, document: D, read: ReadVersions) => void;
}

/** Imports documents and their versions in the order of the archive. */
export class VersionsImport<D extends Numbered> {
  readonly #options: VersionsTarget<D>;
  #document: D | undefined;
  #before: VersionLine | undefined;
  #replaced: { version: number; sinceMs: number }[] = [];

  constructor(options: VersionsTarget<D>) {
    this.#options = options;
  }

  /** Starts the next document. Its versions follow. */
  begin(document: D): void {
    if (this.#document !== undefined) throw invalidField('type', this.#missing(this.#document));
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
    if (before !== undefined) this.#replaced.push({ version: before.version, sinceMs: Date.parse(at) });
    this.#before = line;
    const { target, space, keep } = this.#options;
    const name: DocumentName = { accountId: target.accountId, space, id: document.id };
    const read = { text: content, size: measure(content), replaced: this.#replaced };
    const isLast = version === document.version;
    if (isLast) this.#document = undefined;
    return target.actors.account(target.accountId).ask((batch): void => {
      putVersion(batch, name, version, content, { at, by });
      if (isLast) keep(batch, document, read);
    });
  }

  /** Call it after the last line. Throws when the last document is incomplete. */
  finish(): void {
    if (this.#document === undefined) return;
    throw damaged(`${fileOf(this.#options.section)}: ${this.#missing(this.#document)}`);
  }

  #missing({ id, version }: D): string {
    return `version ${version} of document ${id} is missing`;
  }
}
