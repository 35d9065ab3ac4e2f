/** Finds one dev doc by its id, or by its title and, if that is ambiguous, its category. */
import { invalidField, type Refusal, refuseFields } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Reader } from '../../store/table.ts';
import { nearestName } from '../../text/nearest.ts';
import { foldName } from '../rules.ts';
import { categoryErrors } from './categories.ts';
import type { DevDocRecord } from './declared.ts';
import { devDocs, devDocTitles } from './records.ts';
import { docNotFound } from './rules.ts';

export interface DocReference {
  readonly id?: number | undefined;
  readonly title?: string | undefined;
  readonly category?: string | undefined;
}

type State = 'live' | 'binned';

/**
 * Returns the live document. Throws Refusal `not_found`, or `invalid_fields` when the reference is incomplete or
 * ambiguous.
 */
export function findLive(reader: Reader, accountId: string, reference: DocReference): DevDocRecord {
  const doc = find(reader, accountId, reference, 'live');
  if (doc === undefined)
    throw notFound(reader, accountId, reference, find(reader, accountId, reference, 'binned') !== undefined);
  return doc;
}

/** As `findLive`, but if no live document matches, returns the matching one in the trash. */
export function findAny(reader: Reader, accountId: string, reference: DocReference): DevDocRecord {
  const doc = find(reader, accountId, reference, 'live') ?? find(reader, accountId, reference, 'binned');
  if (doc === undefined) throw notFound(reader, accountId, reference);
  return doc;
}

function find(reader: Reader, accountId: string, reference: DocReference, state: State): DevDocRecord | undefined {
  const id = idOf(reader, accountId, reference, state);
  const doc = id === undefined ? undefined : reader.get(devDocs, [accountId, id]);
  return doc !== undefined && (doc.deleted_at === null) === (state === 'live') ? doc : undefined;
}

function idOf(reader: Reader, accountId: string, { id, title, category }: DocReference, state: State) {
  if (id !== undefined) {
    if (title !== undefined) throw invalidField('title', 'send id or title, not both');
    if (category !== undefined)
      throw invalidField('category', 'category is only used with title; omit it when you send id');
    return id;
  }
  if (title === undefined) throw invalidField('id', 'id or title is required');
  const folded = foldName(title);
  if (category !== undefined) return reader.get(devDocTitles, [accountId, folded, state, foldName(category)]);
  const rows = reader.range(devDocTitles, { prefix: [accountId, folded, state] });
  if (rows.length > 1) {
    const names = rows.map(({ key }) => key[3]).join(', ');
    throw invalidField('category', `dev docs with this title are in ${names}; say which category`);
  }
  return rows[0]?.value;
}

/** Returns a `not_found` error. An unknown category is the likelier mistake, so it is reported first. */
function notFound(reader: Reader, accountId: string, { title, category }: DocReference, isDeleted = false): Refusal {
  if (category !== undefined) refuseFields(categoryErrors(reader, accountId, foldName(category)));
  return docNotFound(isDeleted, isDeleted || title === undefined ? undefined : guessOf(reader, accountId, title));
}

/** The live document with the nearest title, of as many as are cheap to compare. */
function guessOf(reader: Reader, accountId: string, title: string): DevDocRecord | undefined {
  const ids = new Map<string, number>();
  for (const { key, value } of reader.range(devDocTitles, { prefix: [accountId], limit: limits.namesGuessedMax })) {
    if (key[2] === 'live') ids.set(key[1], value);
  }
  const id = ids.get(nearestName(foldName(title), [...ids.keys()]) ?? '');
  return id === undefined ? undefined : reader.get(devDocs, [accountId, id]);
}
