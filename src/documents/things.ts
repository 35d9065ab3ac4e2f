/** What things of every kind of documents have in common. */
import { type Thing, type ThingKind, type ThingKindName, type ThingReader, thingStamp } from '../ids/thing.ts';
import { numberOf, type Variables } from '../ids/uri.ts';
import type { DocumentKind, DocumentRecord } from './kind.ts';
import type { Space } from './records.ts';
import { keptText } from './texts.ts';

interface DocumentThings<R> {
  readonly kind: ThingKindName;
  readonly templates: readonly string[];
  /** The document that a URI without a number names. */
  readonly named?: (reader: ThingReader, accountId: string, variables: Variables) => number | undefined;
  readonly shown: (document: R) => Pick<Thing, 'id' | 'title' | 'place' | 'group' | 'mimeType' | 'facts'>;
}

/** Declares a kind of documents as things. A URI with `id` names a document by its number. */
export function documentThings<R extends DocumentRecord & Timed, H>(
  { space, records }: DocumentKind<R, H>,
  { kind, templates, named, shown }: DocumentThings<R>,
): ThingKind {
  return {
    kind,
    templates,
    find(reader, accountId, variables) {
      const id = variables['id'] === undefined ? named?.(reader, accountId, variables) : numberOf(variables['id']);
      return id?.toString();
    },
    read(reader, accountId, key) {
      const document = reader.get(records, [accountId, Number(key)]);
      return document === undefined || document.deleted_at != null
        ? undefined
        : thingOf(reader, accountId, space, document, { kind, ...shown(document) });
    },
    *keys(reader, accountId, after) {
      for (const [, id] of reader.keysIn(records, { prefix: [accountId], beyond: Number(after ?? 0) })) yield String(id);
    },
    writtenBy: [{ table: records, keyOf: ([, id]) => String(id) }],
  };
}

interface Timed {
  readonly id: number;
  readonly version: number;
  readonly size_bytes: number;
  readonly updated_at: string;
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
  shown: Pick<Thing, 'kind' | 'id' | 'title' | 'place' | 'group' | 'mimeType' | 'facts'>,
): Thing {
  const { id, version } = document;
  return {
    ...shown,
    key: String(id),
    path: `/documents/${space}/${id}`,
    changedMs: Date.parse(document.updated_at),
    sizeBytes: document.size_bytes,
    stamp: documentStamp(document),
    facts: { ...shown.facts, version },
    text: () => keptText(reader, { accountId, space, id }, version),
  };
}
