/** What things of every kind of documents have in common. */
import { Refusal } from '../common/fault.ts';
import { type Thing, type ThingKind, type ThingKindName, type ThingReader, thingStamp } from '../ids/thing.ts';
import { numberOf, type Variables } from '../ids/uri.ts';
import type { DocumentKind, DocumentRecord } from './kind.ts';
import type { Space } from './records.ts';
import { type DocumentName, keptText, readVersion, versionsOf } from './texts.ts';

interface DocumentThings<R> {
  readonly kind: ThingKindName;
  readonly templates: readonly string[];
  /** The document that a URI without a number names. */
  readonly named?: (reader: ThingReader, accountId: string, variables: Variables) => number | undefined;
  /** What to say of a URI without a number that names none. */
  readonly unnamed?: (reader: ThingReader, accountId: string, variables: Variables) => Refusal | undefined;
  readonly shown: (document: R, reader: ThingReader, accountId: string) => ShownDocument;
}

type ShownDocument = Pick<Thing, 'id' | 'what' | 'title' | 'place' | 'group' | 'mimeType' | 'note' | 'facts'>;

/** Declares a kind of documents as things. A URI with `id` names a document by its number. */
export function documentThings<R extends DocumentRecord & Timed, H>(
  { space, records }: DocumentKind<R, H>,
  { kind, templates, named, unnamed, shown }: DocumentThings<R>,
): ThingKind {
  return {
    kind,
    templates,
    find(reader, accountId, variables) {
      const id = variables['id'] === undefined ? named?.(reader, accountId, variables) : numberOf(variables['id']);
      return id?.toString();
    },
    read(reader, accountId, key, version) {
      const document = reader.get(records, [accountId, Number(key)]);
      if (document === undefined || document.deleted_at != null) return undefined;
      const thing = thingOf(reader, accountId, space, document, {
        kind,
        ...shown(document, reader, accountId),
      });
      return version === undefined || version === document.version
        ? thing
        : earlierOf(reader, { accountId, space, id: document.id }, thing, version);
    },
    unknown(reader, accountId, variables) {
      return variables['id'] === undefined ? unnamed?.(reader, accountId, variables) : undefined;
    },
    *keys(reader, accountId, after) {
      for (const [, id] of reader.keysIn(records, { prefix: [accountId], beyond: Number(after ?? 0) }))
        yield String(id);
    },
    writtenBy: [{ table: records, keyOf: ([, id]) => String(id) }],
  };
}

interface Timed {
  readonly id: number;
  readonly version: number;
  readonly size_bytes: number;
  readonly updated_at: string;
  readonly changed_by?: string | undefined;
  readonly deleted_at?: string | null;
}

function documentStamp({ updated_at: at, version }: Timed): number {
  return thingStamp(Date.parse(at), version);
}

function thingOf(
  reader: ThingReader,
  accountId: string,
  space: Space,
  document: Timed,
  shown: Pick<Thing, 'kind'> & ShownDocument,
): Thing {
  const { id, version } = document;
  return {
    ...shown,
    key: String(id),
    path: `/documents/${space}/${id}`,
    changedMs: Date.parse(document.updated_at),
    changedBy: document.changed_by,
    sizeBytes: document.size_bytes,
    version,
    stamp: documentStamp(document),
    facts: { ...shown.facts, version },
    text: () => keptText(reader, { accountId, space, id }, version),
  };
}

/** A kept version of a document. Throws Refusal `not_found` when it is not kept. */
function earlierOf(reader: ThingReader, name: DocumentName, now: Thing, version: number): Thing {
  const kept = readVersion(reader, name, version);
  if (kept === undefined) {
    const [oldest] = versionsOf(reader, name);
    const what = `version ${version} is not available; versions ${oldest?.version ?? now.version} to ${now.version} are`;
    throw new Refusal({ kind: 'not_found', what });
  }
  const note = [now.note, `now at version ${now.version}`].filter((one) => one !== undefined).join('; ');
  return {
    ...now,
    version,
    changedMs: Date.parse(kept.created_at),
    changedBy: kept.changed_by,
    sizeBytes: kept.size_bytes,
    note,
    facts: { ...now.facts, version },
    text: () => keptText(reader, name, version),
  };
}
