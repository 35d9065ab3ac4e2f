/**
 * Keeps facts that agents learn, as small dev docs of one category: so they have versions, a page on which people
 * correct or remove them, and a place in archives and checks.
 */
import { planOnce } from '../../actors/once/calls.ts';
import { invalidField } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import type { DevDocRecord } from '../../documents/dev-docs/declared.ts';
import { newDevDoc } from '../../documents/dev-docs/fields.ts';
import { docGroup } from '../../documents/dev-docs/uri.ts';
import { readFields } from '../../fields/read.ts';
import { oneLine } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { thingPlaceOf } from './ids.ts';
import { referenceOf } from './open.ts';
import type { Shelves } from './thing.ts';

/** The category of dev docs that are facts. */
const FACTS = 'memory';

export interface KeptFact {
  readonly id: string;
  readonly title: string;
  readonly fact: string;
  readonly about: string | null;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Who said it: a key, device, app or browser; null: unknown. */
  readonly by: string | null;
}

interface RememberedFact {
  readonly fact: KeptFact;
  readonly status: 'remembered' | 'known' | 'replaced';
}

type Facts = Pick<Shelves, 'docs' | 'find'>;

interface GivenFact {
  readonly fact: string;
  readonly about?: string | undefined;
  readonly replaces?: string | undefined;
}

export interface Recalled {
  readonly facts: readonly KeptFact[];
  /** False: facts are still being indexed, and more may be found. */
  readonly complete: boolean;
}

/** The best matches of a query in the one index, or the newest facts without one. */
export async function recallFacts(
  { docs, find }: Facts,
  accountId: string,
  query: string,
  limit: number,
): Promise<Recalled> {
  if (query.trim() === '') return { facts: await newestFacts(docs, accountId, limit), complete: true };
  const { results, complete } = await find({
    accountId,
    query,
    kinds: ['doc'],
    group: docGroup(FACTS),
    needs: 'some',
    ranking: 0,
    offset: 0,
    limit,
  });
  const facts = results.flatMap(({ key }) => {
    const found = docs.openLive(accountId, Number(key));
    return found === undefined ? [] : [factOf(found.record, found.content)];
  });
  return { facts, complete };
}

async function newestFacts(docs: Shelves['docs'], accountId: string, limit: number): Promise<KeptFact[]> {
  if (docs.categories(accountId).every(({ name }) => name !== FACTS)) return [];
  const page = await docs.list(accountId, { category: FACTS, limit });
  return page.docs.map((record) => factOf(record, docs.get(accountId, { id: record.id }).content));
}

/**
 * Keeps a fact. The same fact again changes nothing. `replaces`: the id of the fact that it corrects, which goes to the
 * trash once the new one is kept. Throws Refusal `not_found` and `invalid_fields`.
 */
export async function rememberFact(
  shelves: Pick<Shelves, 'docs' | 'nameOf'>,
  by: Principal,
  given: GivenFact,
): Promise<RememberedFact> {
  const { docs, nameOf } = shelves;
  const { accountId } = by;
  return await planOnce(
    ['remember'],
    () => toRemember(docs, accountId, given),
    async ({ known, made, oldId }): Promise<RememberedFact> => {
      if (known !== undefined) return { fact: known, status: 'known' };
      const fields = { ...made, category: FACTS, content_type: 'markdown', create_category: true };
      const doc = await docs.create(accountId, readFields(newDevDoc, fields), nameOf(by));
      if (oldId !== undefined) await docs.remove(accountId, { id: oldId }, nameOf(by));
      return { fact: factOf(doc, made.content), status: oldId === undefined ? 'remembered' : 'replaced' };
    },
  );
}

/** What a fact becomes: the one that is known, or a new dev doc, and the number of the one that it replaces. */
function toRemember(docs: Shelves['docs'], accountId: string, { fact, about, replaces }: GivenFact) {
  const place = replaces === undefined ? undefined : thingPlaceOf(replaces, 'replaces');
  if (place !== undefined && place.kind !== 'doc')
    throw invalidField('replaces', 'replaces must be the id of a fact; recall shows ids');
  const old = place === undefined ? undefined : docs.get(accountId, referenceOf(place)).record;
  if (old !== undefined && old.category !== FACTS)
    throw invalidField('replaces', 'replaces must be the id of a fact; recall shows ids');
  const text = fact.trim();
  const topic = about ?? (old === undefined ? undefined : (aboutOf(old) ?? undefined));
  const { known, title } = freeTitle(docs, accountId, text, topic);
  return { known, made: { title, content: `${text}\n` }, oldId: old?.id };
}

/** `[about] the beginning of the fact`, so that a list can be read. */
function titleOf(fact: string, about: string | undefined): string {
  const start = about === undefined ? '' : `[${about}] `;
  // What no title may have, a fact may: line breaks, and characters that nothing shows.
  const rest = oneLine(
    fact.replaceAll(/\p{Cc}|\u{10ffff}/gu, ' '),
    limits.documentTitleCharsMax - start.length - ROOM_FOR_NUMBER,
  );
  return about === undefined && rest.startsWith('[') ? `"${rest}` : start + rest;
}

const ROOM_FOR_NUMBER = 8;

/** A title that no fact has, or the fact that says the same. Facts with the same title are told apart by a number. */
function freeTitle(
  docs: Shelves['docs'],
  accountId: string,
  text: string,
  topic: string | undefined,
): { readonly title: string; readonly known?: KeptFact } {
  const title = titleOf(text, topic);
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? title : `${title} (${number})`;
    const taken = docs.openTitled(accountId, FACTS, free);
    if (taken === undefined) return { title: free };
    const known = factOf(taken.record, taken.content);
    if (known.fact === text && (known.about ?? undefined) === topic) return { title: free, known };
  }
}

function aboutOf({ title }: Pick<DevDocRecord, 'title'>): string | null {
  return /^\[([^\]]+)\] /.exec(title)?.[1] ?? null;
}

function factOf(record: DevDocRecord, content: string): KeptFact {
  const { id, title, updated_at: at, changed_by: by = null } = record;
  return { id: `cairn://docs/${id}`, title, fact: content.trim(), about: aboutOf(record), at, by };
}
