/** Declares the tools that keep facts and find them again. */
import { z } from 'zod';
import { isWellFormed, visible, WELL_FORMED } from '../../fields/kinds.ts';
import { ADDS, defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { type KeptFact, recallFacts, rememberFact } from '../things/facts.ts';
import type { Shelves } from '../things/thing.ts';
import { thingId } from './read.ts';
import { minute } from './shown.ts';

const factSchema = z.object({
  id: z.string(),
  fact: z.string(),
  about: z.string().nullable(),
  said_at: z.string().describe('ISO 8601 UTC'),
  said_by: z.string().nullable(),
});

const about = z
  .string()
  .trim()
  .min(1)
  .max(limits.factAboutCharsMax)
  .refine((text) => !/[[\]\p{Cc}\p{Cs}\u{10ffff}]/u.test(text), 'must be one line without [ and ]')
  .optional();

export function memoryTools(shelves: Shelves): Tool[] {
  return [rememberTool(shelves), recallTool(shelves)];
}

function rememberTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'remember',
    title: 'Remember a fact',
    access: 'account',
    description:
      'Keeps one fact for later sessions of every agent: a preference, a decision and its reason. Longer texts: write; the state of work: handoff_save.',
    input: z.strictObject({
      fact: visible(z.string().trim().min(1).max(limits.factCharsMax).refine(isWellFormed, WELL_FORMED)),
      about: about.describe('A word or two'),
      replaces: thingId.optional().describe('Id of the fact that it corrects'),
    }),
    output: z.object({ ...factSchema.shape, status: z.enum(['remembered', 'known', 'replaced']) }),
    annotations: ADDS,
    hints: { search: 'remember memory save fact preference decision' },
    example: { fact: 'The staging database is db2; it is reset each Monday.', about: 'database' },
    async handle(args, principal) {
      const { fact, status } = await rememberFact(shelves, principal, args);
      const told = {
        remembered: 'is remembered',
        known: 'was known already',
        replaced: 'is remembered, the old one is in the trash',
      };
      return { structured: { ...factView(fact), status }, text: `${fact.id} ${told[status]}` };
    },
  });
}

function recallTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'recall',
    title: 'Recall facts',
    access: 'account',
    description: 'Finds remembered facts, the best match first; without a query the newest.',
    input: z.strictObject({
      query: z.string().max(limits.searchCharsMax).optional(),
      limit: z.int().min(1).max(limits.factsMax).optional(),
    }),
    output: z.object({ facts: z.array(factSchema) }),
    annotations: READS,
    hints: { search: 'recall memory facts what did we decide preference' },
    example: { query: 'which database' },
    async handle({ query = '', limit = limits.factsDefault }, { accountId }) {
      const { facts, complete } = await recallFacts(shelves, accountId, query, limit);
      const unread = complete ? '' : ' so far: facts are still being indexed; ask again in a moment';
      const none =
        query === ''
          ? 'nothing is remembered yet'
          : `no fact matches${unread}; recall without a query shows the newest, search looks everywhere`;
      const text = facts.length === 0 ? none : headed(`${plural(facts.length, 'fact')}${unread}`, facts, factLine);
      return { structured: { facts: facts.map(factView) }, text };
    },
  });
}

function factView({ id, fact, about: of, at, by }: KeptFact) {
  return { id, fact, about: of, said_at: at, said_by: by };
}

export function factLine({ id, fact, about: of, at, by }: KeptFact): string {
  return `${fact} (${[...(of === null ? [] : [of]), minute(at).slice(0, 10), ...(by === null ? [] : [`by ${by}`])].join(', ')}; ${id})`;
}
