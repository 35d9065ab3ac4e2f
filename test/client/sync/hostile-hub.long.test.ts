/** What a hub that is broken, hostile or another program answers: it is told, nothing is damaged, and a sync ends. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { syncedFolder, textsOf } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const ALL = { 'a.md': 'a\n', 'b.md': 'b\n', 'PLACEHOLDER.md': 'c\n' };
const REST = { 'a.md': 'a\n', 'b.md': 'b\n' };

/** Sends every record of a pull six thousand times, each under a name of its own. */
function flood(answer: string): string {
  return answer.replace(/\{"type":"file".*\n/g, (line) =>
    Array.from({ length: 6000 }, (_, index) => line.replace(/"path":"/, `"path":"${index}-`)).join(''),
  );
}

/** Without its last record, which tells that it is whole. */
const half = (answer: string) => answer.slice(0, answer.lastIndexOf('{'));

test.each([
  ['a hash that is wrong', (text: string) => text.replaceAll('"c\\n"', '"other\\n"'), REST, 1, /match its hash/],
  [
    'a name too long for a disk',
    (text: string) => text.replace('PLACEHOLDER', 'x'.repeat(400)),
    REST,
    1,
    /is not synced/,
  ],
  ['a name that Windows takes for .git', (text: string) => text.replace('PLACEHOLDER.md', '.git. /x'), REST, 1, /git/],
  ['a stream of .git', (text: string) => text.replace('PLACEHOLDER.md', '.git::$INDEX_ALLOCATION/x'), REST, 1, /git/],
  [
    'times that are none',
    (text: string) => text.replaceAll(/"stored_at":"[^"]*"/g, '"stored_at":"soon"'),
    {},
    1,
    /cannot read/,
  ],
  [
    'lines that are not JSON',
    (text: string) => text.replaceAll('{"type":"file"', '{nonsense'),
    {},
    1,
    /does not answer like/,
  ],
  [
    'no end of pages',
    (text: string) => text.replace('"has_more":false', '"has_more":true'),
    ALL,
    1,
    /keeps sending the same changes/,
  ],
  ['more than was asked for', flood, undefined, 1, /more than it was asked for/],
  ['the page of a proxy', () => '<html>sign in to the network</html>', {}, 1, /does not answer like/],
  ['half of the files', (text: string) => (text.includes('"type":"file"') ? half(text) : text), ALL, 4, /broke off/],
  ['half of every answer', half, {}, 4, /broke off/],
])(
  '[SYN-24, SYN-25] a hub that sends %s',
  async (what, rewrite, expected, exitCode, sentence) => {
    const vault = `vault ${randomBytes(4).toString('hex')}`;
    const relay = await startRelay(hub);
    const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(relay, key, vault)];
    for (const [path, content] of Object.entries(ALL)) a.write(path, content);
    await a.sync();
    relay.rules = {
      rewrites: (answer, { body }) => (body.includes('"sync_pull"') ? rewrite(answer) : answer),
    };
    for (let times = 0; times < 2; times += 1) {
      const { code, stdout, stderr } = await b.sync();
      expect({ code, stdout, stderr }).toMatchObject({ code: exitCode, stderr: expect.stringMatching(sentence) });
      expect(stderr).not.toMatch(/\n\s+at /);
      if (expected !== undefined) expect(textsOf(b)).toEqual(expected);
    }
    relay.rules = {};
    // A name that is not for a folder is one as long as the hub has it.
    if (expected !== undefined && !/\.git|too long/.test(what)) {
      expect(await b.sync()).toMatchObject({ code: 0 });
      expect(textsOf(b)).toEqual(ALL);
    }
    await relay.close();
  },
  180_000,
);
