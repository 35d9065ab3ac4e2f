/** cairn find: searches everything in an account from a terminal. */
import { z } from 'zod';
import { jsonLine, shownLine } from '../../client/shown.ts';
import { readAs } from '../../client/sync/remote-record.ts';
import { countWithNoun } from '../../text/count.ts';
import { nearest } from '../../text/nearest.ts';
import { emptyAdvice, leftOutAdvice, MORE_LATER } from '../../text/search-advice.ts';
import { type Command, type Options, takes } from '../command.ts';
import { aligned, cut, hasColour, print, printTable } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { given, SERVER, toolsOf } from './documents/tool-call.ts';

/** Kinds as people write them, with the name of the hub. */
const KINDS: Readonly<Record<string, string>> = {
  tasks: 'task',
  docs: 'doc',
  handoffs: 'handoff',
  papers: 'paper',
  files: 'file',
  backups: 'backup',
};

export const findThings: Command = {
  name: 'find',
  summary: 'search tasks, documents, files and backups by words',
  operands: ['WORDS'],
  isWords: true,
  options: [takes('in', 'KIND'), takes('limit', 'N'), takes('cursor', 'CURSOR'), SERVER],
  completes: { in: Object.keys(KINDS) },
  instead: { kind: 'use --in', type: 'use --in' },
  explains: {
    in: `only ${Object.keys(KINDS).join(', ')}`,
    cursor: 'continue after an earlier list',
  },
  examples: [
    'cairn find certificate renewal',
    'cairn find saffron --in files --limit 5',
    `cairn find '"word for word" -without'`,
  ],
  run: find,
};

const foundSchema = z.object({
  results: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      kind: z.string(),
      place: z.string(),
      lines: z.array(z.object({ line: z.number(), text: z.string() })),
    }),
  ),
  total: z.number(),
  counts: z.record(z.string(), z.number()),
  missing: z.array(z.string()),
  without: z.array(z.string()).default([]),
  complete: z.boolean(),
  cursor: z.string().optional(),
});

async function find(options: Options): Promise<number> {
  const kind = options.optional('in');
  const { structured } = await toolsOf(options).call('search', {
    query: options.operand(),
    ...given('in', kind === undefined ? undefined : kindOf(kind)),
    ...given('limit', options.count('limit')),
    ...given('cursor', options.optional('cursor')),
  });
  if (options.json) {
    print(jsonLine(structured));
    return 0;
  }
  const found = readAs(foundSchema, structured);
  if (found.results.length === 0) {
    print(emptyAdvice(options.operand() ?? '', found, kind));
    return 0;
  }
  printTable(foundTable(found.results, process.stdout.isTTY ? process.stdout.columns : undefined, hasColour()));
  const leftOut = leftOutAdvice(found.without);
  if (leftOut !== undefined) print(leftOut);
  if (!found.complete) print(MORE_LATER);
  if (found.cursor !== undefined)
    print(`${found.results.length} of ${countWithNoun(found.total, 'result')}: continue with --cursor ${found.cursor}`);
  return 0;
}

/** Throws UsageError with the nearest kind. */
function kindOf(text: string): string {
  const written = text.trim().toLowerCase();
  const known = KINDS[written] ?? Object.values(KINDS).find((name) => name === written);
  if (known !== undefined) return known;
  const names = Object.keys(KINDS);
  const guess = nearest(written, names);
  throw new UsageError(
    `--in ${text} is no kind; ${guess === undefined ? `use ${names.join(', ')}` : `did you mean ${guess}?`}`,
  );
}

type Listed = z.infer<typeof foundSchema>['results'][number];

const TITLE_CHARS_MAX = 40;
const WHERE_CHARS_MAX = 50;

function foundTable(results: readonly Listed[], columns: number | undefined, inColour: boolean): string {
  const rows = results.map(({ kind, title, place, id, lines: [first] }) => [
    kind,
    cut(shownLine(title), TITLE_CHARS_MAX),
    cut(shownLine(place === '' ? id : place), WHERE_CHARS_MAX),
    first === undefined ? '' : `${first.line}: ${shownLine(first.text.trim())}`,
  ]);
  const heads = ['KIND', 'TITLE', 'WHERE', 'TEXT'];
  const lines = aligned([heads, ...rows]).map((cells) => cut(cells.join('  ').trimEnd(), columns ?? Infinity));
  const [head = '', ...others] = lines;
  return [inColour ? `\u001b[2m${head}\u001b[0m` : head, ...others].join('\n');
}
