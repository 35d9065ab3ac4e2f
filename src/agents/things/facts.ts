/**
 * Keeps facts that agents learn, as small dev docs of one category: so they have versions, a page on which people
 * correct or remove them, and a place in archives and checks.
 */
import { invalidField } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import type { DevDocRecord } from '../../documents/dev-docs/declared.ts';
import { newDevDoc } from '../../documents/dev-docs/fields.ts';
import { readFields } from '../../fields/read.ts';
import { oneLine } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { rankFacts } from './fact-rank.ts';
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

type Facts = Pick<Shelves, 'docs' | 'nameOf'>;

/** Facts of an account, the newest first, at most `limits.factsRead`. */
async function factsOf({ docs }: Pick<Shelves, 'docs'>, accountId: string): Promise<KeptFact[]> {
  const found: KeptFact[] = [];
  let cursor: string | undefined;
  if (docs.categories(accountId).every(({ name }) => name !== FACTS)) return [];
  do {
    const page = await docs.list(accountId, { category: FACTS, limit: limits.devDocListMax, cursor });
    for (const record of page.docs) found.push(factOf(record, docs.get(accountId, { id: record.id }).content));
    ({ cursor } = page);
  } while (cursor !== undefined && found.length < limits.factsRead);
  return found;
}

/** The best matches of a query, or the newest facts without one. */
export async function recallFacts(
  shelves: Pick<Shelves, 'docs'>,
  accountId: string,
  query: string,
  limit: number,
): Promise<KeptFact[]> {
  const facts = await factsOf(shelves, accountId);
  return (query.trim() === '' ? facts : rankFacts(facts, query)).slice(0, limit);
}

/**
 * Keeps a fact. The same fact again changes nothing. `replaces`: the id of the fact that it corrects, which goes to the
 * trash once the new one is kept. Throws Refusal `not_found` and `invalid_fields`.
 */
export async function rememberFact(
  shelves: Facts,
  by: Principal,
  {
    fact,
    about,
    replaces,
  }: { readonly fact: string; readonly about?: string | undefined; readonly replaces?: string | undefined },
): Promise<RememberedFact> {
  const { docs, nameOf } = shelves;
  const { accountId } = by;
  const place = replaces === undefined ? undefined : thingPlaceOf(replaces, 'replaces');
  if (place !== undefined && place.kind !== 'doc')
    throw invalidField('replaces', 'replaces must be the id of a fact; recall shows ids');
  const old = place === undefined ? undefined : docs.get(accountId, referenceOf(place)).record;
  if (old !== undefined && old.category !== FACTS)
    throw invalidField('replaces', 'replaces must be the id of a fact; recall shows ids');
  const text = fact.trim();
  const topic = about ?? (old === undefined ? undefined : (aboutOf(old) ?? undefined));
  const facts = await factsOf(shelves, accountId);
  const known = facts.find((one) => one.fact === text && (one.about ?? undefined) === topic);
  if (known !== undefined) return { fact: known, status: 'known' };
  const title = freeTitle(new Set(facts.map((one) => one.title.toLowerCase())), titleOf(text, topic));
  const content = `${text}\n`;
  const made = await docs.create(
    accountId,
    readFields(newDevDoc, { title, content, category: FACTS, content_type: 'markdown', create_category: true }),
    nameOf(by),
  );
  if (old !== undefined) await docs.remove(accountId, { id: old.id }, nameOf(by));
  return { fact: factOf(made, content), status: old === undefined ? 'remembered' : 'replaced' };
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

function freeTitle(taken: ReadonlySet<string>, title: string): string {
  let free = title;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${title} (${number})`;
  return free;
}

function aboutOf({ title }: Pick<DevDocRecord, 'title'>): string | null {
  return /^\[([^\]]+)\] /.exec(title)?.[1] ?? null;
}

function factOf(record: DevDocRecord, content: string): KeptFact {
  const { id, title, updated_at: at, changed_by: by = null } = record;
  return { id: `cairn://docs/${id}`, title, fact: content.trim(), about: aboutOf(record), at, by };
}
