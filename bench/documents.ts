/** Are lists and searches of dev docs as fast with 10,000 documents as with 100, page by page? */
import { AGENT } from '../test/support/http.ts';
import { startCairn } from './peers/cairn.ts';
import { requireTool } from './peers/child.ts';
import { fill, post, type RequestLoad, takeTurns, toolCall } from './peers/servers/start.ts';
import { type Bench, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const FEW = 100;
const MANY = 10_000;
const CONNECTIONS = 8;
const LIMIT = 25;
const CATEGORIES = ['claude', 'cursor', 'docs', 'skills', 'agents'];
const VOCABULARY = 4000;
const WORDS_EACH = 330;

interface Listed {
  readonly result: {
    readonly structuredContent: { readonly docs: readonly { readonly id: number }[]; readonly complete: boolean };
  };
}

interface Case {
  readonly question: string;
  /** Arguments besides the limit, for a number of documents. */
  readonly argumentsOf: (count: number) => Record<string, unknown>;
  /** Expected number of documents in the response. */
  readonly found: number;
}

const cases: readonly Case[] = [
  { question: 'first page', argumentsOf: () => ({}), found: LIMIT },
  { question: 'a page in the middle', argumentsOf: (count) => ({ cursor: String(count / 2) }), found: LIMIT },
  { question: 'a page of one category', argumentsOf: () => ({ category: 'skills' }), found: 20 },
  { question: 'search of a common word', argumentsOf: () => ({ search: 'certificate' }), found: LIMIT },
  { question: 'search of one document', argumentsOf: (count) => ({ search: markOf(count / 2) }), found: 1 },
  { question: 'search of what is not there', argumentsOf: () => ({ search: 'kubernetes ingress' }), found: 0 },
];

export const documents: Bench = async ({ quick }) => {
  requireTool('wrk', 'wrk');
  const hub = await startCairn({ CAIRN_LOG_LEVEL: 'warn' });
  try {
    const few = await accountWith(hub.url, FEW);
    const many = await accountWith(hub.url, MANY);
    const rows: Row[] = [];
    for (const { question, argumentsOf, found } of cases) {
      const load = async (headers: Record<string, string>, count: number): Promise<RequestLoad> => {
        const limit = Math.max(1, Math.min(LIMIT, found));
        const body = JSON.stringify(toolCall('list_dev_docs', { limit, ...argumentsOf(count) }));
        const { docs, complete } = (JSON.parse(await post(`${hub.url}/api/mcp`, headers, body)) as Listed).result
          .structuredContent;
        if (docs.length !== found || !complete) throw new Error(`${question} of ${count}: found ${docs.length}`);
        return { url: `${hub.url}/api/mcp`, headers, connections: CONNECTIONS, seconds: 3, body };
      };
      const sides = { many: await load(many, MANY), few: await load(few, FEW) };
      const rates = await takeTurns(question, sides, quick ? 2 : 5);
      rows.push(
        pairedRow({
          question: `list_dev_docs of ${MANY}: ${question}`,
          yardstickName: `of ${FEW}`,
          cairn: rates.many,
          yardstick: rates.few,
          unit: '/s',
          target: 0.33,
        }),
      );
    }
    return rows;
  } finally {
    await hub.stop();
  }
};

/** Returns the headers of a new account with `count` documents. */
async function accountWith(url: string, count: number): Promise<Record<string, string>> {
  const signUp = { email: `docs${count}@example.org`, password: 'correct horse battery' };
  const made = await post(
    `${url}/api/mcp`,
    { 'User-Agent': AGENT },
    JSON.stringify(toolCall('signup_and_get_key', signUp)),
  );
  const { result } = JSON.parse(made) as { result: { structuredContent: { mcp_key: string } } };
  const headers = { Authorization: `McpKey ${result.structuredContent.mcp_key}`, 'User-Agent': AGENT };
  const startedMs = performance.now();
  await fill({ url }, headers, { tool: 'create_dev_doc', count, argumentsOf: documentOf });
  note(`${count} documents made in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  return headers;
}

/** Returns some 2 KiB of words, with a marker unique to the document. */
function documentOf(index: number): Record<string, unknown> {
  const words = Array.from({ length: WORDS_EACH }, (_, n) => wordOf((index * 7919 + n * n * 31 + n) % VOCABULARY));
  const content = `# Notes ${index}\n\nThe certificate of ${markOf(index)}.\n\n${words.join(' ')}\n`;
  return { title: `notes-${index}.md`, category: CATEGORIES[index % CATEGORIES.length], content };
}

function markOf(index: number): string {
  return `mark-${(index * 104_729).toString(36)}-x`;
}

/** Returns a word of two to four syllables. */
function wordOf(index: number): string {
  const syllables = [
    'ra',
    'to',
    'mi',
    'len',
    'ka',
    'so',
    'du',
    'ver',
    'pi',
    'no',
    'sta',
    'gi',
    'bel',
    'ur',
    'fa',
    'co',
  ];
  const count = 2 + (index % 3);
  return Array.from({ length: count }, (_, n) => syllables[(index >> (n * 4)) % syllables.length]).join('');
}

await runWhenStarted(import.meta.url, documents);
