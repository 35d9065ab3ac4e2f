/** Writes the versions of documents into an archive after the document they are of, and reads them out of one. */
import { z } from 'zod';
import { type ArchiveSection, damaged, fileOf } from '../archive/format.ts';
import { type ImportTarget, type Instant, id, text } from '../archive/records.ts';
import type { WriteRecord } from '../archive/writer.ts';
import { invalidField, refuseFields } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Snapshot } from '../store/table.ts';
import { type Space, versionRows, versionTexts } from './records.ts';
import { type DocumentName, measure, putVersion, textErrors } from './texts.ts';

/** A version, oldest first after its document; the last is the one that stands. */
export const versionSchema = (instant: Instant) =>
  z.strictObject({
    type: z.literal('version'),
    version: id,
    created_at: instant,
    content: text(limits.documentBytesMax),
  });

type VersionLine = z.infer<ReturnType<typeof versionSchema>>;

export function exportVersions(snapshot: Snapshot, { accountId, space, id }: DocumentName, write: WriteRecord): void {
  for (const { key, value } of snapshot.entries(versionRows, { prefix: [accountId, space, id] })) {
    const content = snapshot.get(versionTexts, key);
    if (content === undefined) throw new Error(`the text of version ${key.join(' ')} is missing; run cairn verify`);
    write({ type: 'version', version: key[3], created_at: value.created_at, content });
  }
}

interface Numbered {
  readonly id: number;
  readonly version: number;
}

/** The text that stands of a document that was read, and what it replaced. */
export interface ReadVersions {
  readonly text: string;
  readonly size: ReturnType<typeof measure>;
  /** Each earlier version that is kept, and since when a newer one stands in its place. */
  readonly replaced: readonly { readonly version: number; readonly sinceMs: number }[];
}

export interface VersionsTarget<D> {
  readonly target: ImportTarget;
  readonly section: ArchiveSection;
  readonly space: Space;
  /** Within the decision that writes the last version: writes the document itself. */
  readonly keep: (batch: Batch, document: D, read: ReadVersions) => void;
}

/** Takes documents and their versions in the order of the archive. */
export class VersionsImport<D extends Numbered> {
  readonly #options: VersionsTarget<D>;
  #document: D | undefined;
  #before: VersionLine | undefined;
  #replaced: { version: number; sinceMs: number }[] = [];

  constructor(options: VersionsTarget<D>) {
    this.#options = options;
  }

  /** The next document; its versions follow. */
  begin(document: D): void {
    if (this.#document !== undefined) throw invalidField('type', this.#missing(this.#document));
    [this.#document, this.#before, this.#replaced] = [document, undefined, []];
  }

  /** Resolves when the version is on disk, and with the last one the document. */
  version(line: VersionLine): Promise<void> {
    const document = this.#document;
    if (document === undefined) throw invalidField('type', 'a version stands after the document that it is of');
    const { version, content, created_at: at } = line;
    const before = this.#before;
    const isNext = version <= document.version && (before === undefined || version === before.version + 1);
    if (!isNext) throw invalidField('version', `version ${version} is not the next of document ${document.id}`);
    if (before !== undefined && before.created_at > at)
      throw invalidField('created_at', 'lies before the version before');
    refuseFields(textErrors(content));
    if (before !== undefined) this.#replaced.push({ version: before.version, sinceMs: Date.parse(at) });
    this.#before = line;
    const { target, space, keep } = this.#options;
    const name: DocumentName = { accountId: target.accountId, space, id: document.id };
    const read = { text: content, size: measure(content), replaced: this.#replaced };
    const isLast = version === document.version;
    if (isLast) this.#document = undefined;
    return target.actors.account(target.accountId).ask((batch): void => {
      putVersion(batch, name, version, content, at);
      if (isLast) keep(batch, document, read);
    });
  }

  /** Call it after the last line. */
  finish(): void {
    if (this.#document === undefined) return;
    throw damaged(`${fileOf(this.#options.section)}: ${this.#missing(this.#document)}`);
  }

  #missing({ id, version }: D): string {
    return `version ${version} of document ${id} is missing`;
  }
}
