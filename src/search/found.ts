/** The form in which search answers: `results` of `id`, `title` and `url`, as assistants expect, and where it was found. */
import { z } from 'zod';
import { invalidField } from '../common/fault.ts';
import { THING_KINDS } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { emptyAdvice, ONLY_LEFT_OUT } from '../text/search-advice.ts';
import type { FoundThings, SearchQuery } from './messages.ts';
import { leavesOutOnly, readSearch } from './query.ts';

export const searchFields = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(limits.searchCharsMax)
    .describe(
      'Words, all required unless OR is between them; beginnings and small slips count; "exact phrase"; -without',
    ),
  in: z.enum(THING_KINDS).optional().describe('Only this kind'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(limits.searchPageMax)
    .default(limits.searchPageDefault)
    .describe('Results a page'),
  cursor: z.string().max(limits.listCursorCharsMax).optional().describe('cursor of an earlier answer'),
});

const result = z.object({
  id: z.string(),
  title: z.string(),
  url: z.string(),
  kind: z.enum(THING_KINDS),
  place: z.string().describe('Path, category or project'),
  lines: z.array(z.object({ line: z.int(), text: z.string() })).describe('Lines that show it, numbered from 1'),
});

export const foundSchema = z.object({
  results: z.array(result),
  total: z.int(),
  counts: z.record(z.string(), z.int()).describe('Matches by kind'),
  missing: z.array(z.string()).describe('Words and phrases of the query that nothing has'),
  without: z.array(z.string()).optional().describe('Left out, by a hyphen before it; quote the word to find it'),
  complete: z.boolean().describe('False: still indexing, or too much text for a phrase; more may be found'),
  cursor: z.string().optional(),
  note: z.string().optional().describe('Why nothing was found, and what to try'),
});

export const FOUND_EXAMPLE: z.output<typeof foundSchema> = {
  results: [
    {
      id: 'cairn://tasks/7',
      title: 'Renew the certificate',
      url: 'https://hub.example.org/tasks/7',
      kind: 'task',
      place: '',
      lines: [{ line: 1, text: 'Renew the certificate' }],
    },
  ],
  total: 1,
  counts: { task: 1 },
  missing: [],
  complete: true,
};

/** Finds things in the index. */
export type Find = (query: SearchQuery) => Promise<FoundThings>;

/** Throws Refusal `invalid_fields` for a query that only leaves out, and for a cursor that is not of an earlier answer. */
export async function searchPage(
  find: Find,
  accountId: string,
  { query, in: kind, limit, cursor: from }: z.output<typeof searchFields>,
  baseUrl: string,
): Promise<z.output<typeof foundSchema>> {
  if (leavesOutOnly(readSearch(query))) throw invalidField('query', `query ${ONLY_LEFT_OUT}`);
  const kinds = kind === undefined ? undefined : [kind];
  const {
    results,
    total,
    counts,
    missing: lost,
    without,
    complete,
    cursor,
  } = await find({
    accountId,
    query,
    kinds,
    limit,
    ...readCursor(from),
  });
  // Signs and pictures are in no index.
  const missing = readSearch(query).wanted.length === 0 ? [query.trim()] : lost;
  const empty = { total, counts, missing, without, complete };
  return {
    results: results.map(({ id, title, path, kind: of, place, lines }) => ({
      id,
      title,
      url: baseUrl + path,
      kind: of,
      place,
      lines: lines.map(({ line, text }) => ({ line, text })),
    })),
    total,
    counts,
    missing: [...missing],
    ...(without.length === 0 ? {} : { without: [...without] }),
    complete,
    ...(cursor === undefined ? {} : { cursor }),
    ...(results.length > 0 ? {} : { note: emptyAdvice(query, empty, kind && `${kind}s`) }),
  };
}

/** Reads a cursor: a ranking that the thread keeps, and a place in it. Throws Refusal `invalid_fields`. */
export function readCursor(cursor: string | undefined): Pick<SearchQuery, 'ranking' | 'offset'> {
  if (cursor === undefined) return { ranking: 0, offset: 0 };
  const [, ranking, offset] = /^(\d{1,12})-(\d{1,9})$/.exec(cursor) ?? [];
  if (offset === undefined) throw invalidField('cursor', 'cursor must come from an earlier answer');
  return { ranking: Number(ranking), offset: Number(offset) };
}
