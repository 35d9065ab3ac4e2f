/**
 * Lists dev docs newest first, filtered over index rows and searched among those that may contain the text.
 *
 * A search reads only texts that the index of the search cannot rule out, up to a maximum number of texts and bytes. It
 * then reports how many it read and where to continue. Without such an index it walks the list instead.
 */
import { refuseFields } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Walkable } from '../../store/table.ts';
import { foldText } from '../../text/fold-text.ts';
import { foldName } from '../rules.ts';
import { keptText } from '../texts.ts';
import { filterCategory } from './categories.ts';
import type { ContentType, DevDocRecord } from './declared.ts';
import { devDocRows, devDocs } from './records.ts';
import { listScope } from './rules.ts';
import { docGroup } from './uri.ts';

export interface DevDocListRequest {
  readonly category?: string | undefined;
  readonly content_type?: ContentType | undefined;
  /** Text contained in the title or the content, ignoring case. */
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface DocList {
  readonly docs: readonly DevDocRecord[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly cursor: string | undefined;
  /** False when the search reached its read limit before the page was full. */
  readonly complete: boolean;
  /** Number of documents whose title or text was read. */
  readonly looked: number;
}

/** Asks for the documents that may contain a text. */
export interface CandidateQuery {
  readonly accountId: string;
  readonly text: string;
  readonly group: string | undefined;
  /** Only numbers below this one. */
  readonly before: number;
  readonly most: number;
}

/** Documents that may contain a text, newest first. */
export interface Candidates {
  readonly numbers: Float64Array;
  /** False: there are more, with lower numbers. */
  readonly isAll: boolean;
}

/** What narrows a search down before texts are read; undefined: nothing is searched. */
export function candidateQuery(accountId: string, request: DevDocListRequest): CandidateQuery | undefined {
  const { category, content_type: contentType, search: text = '' } = request;
  if (text === '') return undefined;
  return {
    accountId,
    text,
    group: category === undefined ? undefined : docGroup(foldName(category)),
    before: positionOf(request),
    // A page reads no more; those of another type are passed over unread.
    most: contentType === undefined ? limits.devDocSearchTextsMax + 1 : Number.MAX_SAFE_INTEGER,
  };
}

/** Number of characters folded at once. */
const PIECE_CHARS = 64 * 1024;

interface Filter {
  readonly category: string | undefined;
  readonly contentType: ContentType | undefined;
}

/**
 * Lists documents. Yields between any two of them so that it can run in turns. Throws Refusal `invalid_fields` when the
 * category is unknown or the cursor is invalid. `among`: the documents that may contain the searched text; undefined: any
 * may.
 */
export function* listDocs(
  store: Walkable,
  accountId: string,
  request: DevDocListRequest,
  among?: Candidates,
): Generator<void, DocList> {
  const { category, errors } = filterCategory(store, accountId, request.category);
  const isCursor = request.cursor === undefined || CURSOR.test(request.cursor);
  const cursorErrors = { cursor: ['cursor must come from an earlier answer of this tool; omit it for the first page'] };
  refuseFields({ ...errors, ...(isCursor ? {} : cursorErrors) });
  const filter: Filter = { category, contentType: request.content_type };
  const beforeId = positionOf(request);
  const limit = request.limit ?? limits.devDocListDefault;
  const wanted = foldText(request.search ?? '');
  return wanted === ''
    ? yield* listPage(store, accountId, filter, beforeId, limit)
    : yield* searchPage(store, accountId, { filter, beforeId, limit, wanted, among });
}

function* listPage(
  store: Walkable,
  accountId: string,
  filter: Filter,
  beforeId: number,
  limit: number,
): Generator<void, DocList> {
  const docs: DevDocRecord[] = [];
  for (const id of walkRows(store, accountId, filter, beforeId)) {
    yield;
    if (docs.length === limit) return { docs, cursor: String(docs.at(-1)?.id), complete: true, looked: limit };
    docs.push(liveDoc(store, accountId, id));
  }
  return { docs, cursor: undefined, complete: true, looked: docs.length };
}

interface Search {
  readonly filter: Filter;
  readonly beforeId: number;
  readonly limit: number;
  /** Folded search term. */
  readonly wanted: string;
  readonly among: Candidates | undefined;
}

function* searchPage(
  store: Walkable,
  accountId: string,
  { filter, beforeId, limit, wanted, among }: Search,
): Generator<void, DocList> {
  const ids = among?.numbers ?? walkRows(store, accountId, filter, beforeId);
  const docs: DevDocRecord[] = [];
  let [looked, bytes, last] = [0, 0, beforeId];
  for (const id of ids) {
    yield;
    const isEnough = looked >= limits.devDocSearchTextsMax || bytes >= limits.devDocSearchBytesMax;
    if (docs.length === limit || isEnough) {
      return { docs, cursor: String(last), complete: docs.length === limit, looked };
    }
    last = id;
    const doc = store.get(devDocs, [accountId, id]);
    // It went after the index was asked.
    if (doc?.deleted_at !== null) continue;
    if (filter.category !== undefined && doc.category !== filter.category) continue;
    if (filter.contentType !== undefined && doc.content_type !== filter.contentType) continue;
    looked += 1;
    if (!foldText(doc.title).includes(wanted)) {
      bytes += doc.size_bytes;
      const text = keptText(store, { accountId, space: 'docs', id }, doc.version);
      if (!(yield* hasText(text, wanted))) continue;
    }
    docs.push(doc);
  }
  if (among?.isAll === false) return { docs, cursor: String(last), complete: docs.length === limit, looked };
  return { docs, cursor: undefined, complete: true, looked };
}

/** Only documents before this number are listed. */
function positionOf({ cursor }: DevDocListRequest): number {
  return cursor !== undefined && CURSOR.test(cursor) ? Number(cursor) : Number.MAX_SAFE_INTEGER;
}

const CURSOR = /^[1-9]\d{0,14}$/;

/**
 * True when the text contains a folded search term. The text is folded in pieces that end with a line, because folding
 * and composition never cross a line end. A search term of several lines is searched in the whole text.
 */
function* hasText(text: string, wanted: string): Generator<void, boolean> {
  if (text.length <= PIECE_CHARS || wanted.includes('\n')) return foldText(text).includes(wanted);
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from + PIECE_CHARS);
    const until = end < 0 ? text.length : end + 1;
    if (foldText(text.slice(from, until)).includes(wanted)) return true;
    from = until;
    yield;
  }
  return false;
}

/** Yields the ids of the rows that match the filter, newest first. */
function* walkRows(store: Walkable, accountId: string, filter: Filter, beforeId: number): Generator<number> {
  const scope = listScope(filter.category, filter.contentType);
  const query = { prefix: [accountId, scope], reverse: true, beyond: beforeId };
  for (const { key } of store.entries(devDocRows, query)) yield key[2];
}

function liveDoc(store: Walkable, accountId: string, id: number): DevDocRecord {
  const doc = store.get(devDocs, [accountId, id]);
  if (doc?.deleted_at !== null) throw new Error(`an index names dev doc ${id}, which is not live`);
  return doc;
}
