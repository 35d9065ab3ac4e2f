/** Finds one dev doc by its id, or by its title and, if that is ambiguous, its category. */
import { invalidField, Refusal, refuseFields } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Reader } from '../../store/table.ts';
import { nearestName } from '../../text/nearest.ts';
import { foldName } from '../rules.ts';
import { categoryErrors } from './categories.ts';
import type { DevDocRecord } from './declared.ts';
import { devDocs, devDocTitles } from './records.ts';
import { docNotFound } from './rules.ts';
import { docUri } from './uri.ts';

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

/** Throws Refusal `invalid_fields` where a name stands beside the id. `next`: what the sentence says to do about it. */
export function checkReference(
  { id, title, category }: DocReference,
  next: { readonly title: string; readonly category: string },
): void {
  if (id === undefined) return;
  if (title !== undefined) throw invalidField('title', `send id or title, not both${next.title}`);
  if (category !== undefined) throw invalidField('category', `category is only used with title${next.category}`);
}

function idOf(reader: Reader, accountId: string, { id, title, category }: DocReference, state: State) {
  if (id !== undefined) {
    checkReference({ id, title, category }, { title: '', category: '; omit it when you send id' });
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
  return docNotFound(
    isDeleted,
    isDeleted || title === undefined ? undefined : guessOf(reader, accountId, title, category),
  );
}

/** What to say of a category and a title that no live document has; undefined: nothing is like it. */
export function unknownDoc(
  reader: Reader,
  accountId: string,
  { category = '', title = '' }: { readonly category?: string; readonly title?: string },
): Refusal | undefined {
  if (find(reader, accountId, { category, title }, 'binned') !== undefined) return docNotFound(true);
  const guess = guessOf(reader, accountId, title, category);
  if (guess === undefined) return undefined;
  const what = `no dev doc ${category}/${title}; did you mean ${docUri(guess)}?`;
  return new Refusal({ kind: 'not_found', what, next: 'search finds ids' });
}

/** The live document whose title a text is, with or without its ending; of as many as are cheap to compare. */
export function titledDoc(reader: Reader, accountId: string, text: string): DevDocRecord | undefined {
  const title = foldName(text);
  const rows = reader.range(devDocTitles, { prefix: [accountId], limit: limits.namesGuessedMax });
  const live = rows.filter(({ key }) => key[2] === 'live');
  const found =
    live.find(({ key }) => key[1] === title) ?? live.find(({ key }) => key[1].replace(/\.[a-z]+$/, '') === title);
  return found && reader.get(devDocs, [accountId, found.value]);
}

/** The live document with the nearest title, first of the category; of as many as are cheap to compare. */
function guessOf(reader: Reader, accountId: string, title: string, category = ''): DevDocRecord | undefined {
  const rows = reader.range(devDocTitles, { prefix: [accountId], limit: limits.namesGuessedMax });
  const live = rows.filter(({ key }) => key[2] === 'live');
  const here = live.filter(({ key }) => key[3] === foldName(category));
  for (const some of [here, live]) {
    const name = nearestName(
      foldName(title),
      some.map(({ key }) => key[1]),
    );
    const found = some.find(({ key }) => key[1] === name);
    if (found !== undefined) return reader.get(devDocs, [accountId, found.value]);
  }
  return undefined;
}
