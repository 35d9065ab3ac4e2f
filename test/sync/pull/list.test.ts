/** sync_list from outside: what it shows, filters, pages, totals, and wrong arguments. */
import { beforeAll, expect, test } from 'vitest';
import { pushMany } from '../../support/pull.ts';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

interface Listed {
  readonly vault_id: string;
  readonly files: { readonly path: string; readonly deleted: boolean; readonly protected: boolean }[];
  readonly total_count: number | null;
  readonly total_size_bytes: number | null;
  readonly has_more: boolean;
  readonly cursor: string | null;
}

const PATHS = [
  'CLAUDE.md',
  'a.md',
  'docs/Deep/x.md',
  'docs/a.txt',
  'docs/b.md',
  'docs.md',
  'src/app/page.tsx',
  'Ωmega.md',
];
const hub = useHub();
let device: Device;

beforeAll(async () => {
  device = await newDevice(hub);
  await pushMany(
    device,
    PATHS.map((path) => ({ path, content: path })),
  );
  await device.push('gone.md', 'g');
  await device.result('sync_push', device.deleteOf('gone.md', { base_sha: sha256Of('g') }));
});

const list = (args: object = {}, who = device) => who.result<Listed>('sync_list', args);
const paths = async (args: object) => (await list(args)).files.map(({ path }) => path);

test('[SYN-11] a listing shows metadata without content, in the order of the paths, and exact totals', async () => {
  const all = await list();
  expect(all.files.map(({ path }) => path)).toEqual([
    'a.md',
    'CLAUDE.md',
    'docs.md',
    'docs/a.txt',
    'docs/b.md',
    'docs/Deep/x.md',
    'src/app/page.tsx',
    'Ωmega.md',
  ]);
  const bytes = PATHS.reduce((sum, path) => sum + Buffer.byteLength(path), 0);
  expect(all).toMatchObject({ total_count: 8, total_size_bytes: bytes, has_more: false, cursor: null });
  expect(all.files[1]).toEqual({
    // They were sent at the same time.
    seq: expect.any(Number),
    path: 'CLAUDE.md',
    sha256: sha256Of('CLAUDE.md'),
    git_sha: expect.stringMatching(/^[0-9a-f]{40}$/),
    hlc: expect.any(String),
    size_bytes: 9,
    stored_at: expect.stringMatching(/Z$/),
    device_id: 'laptop',
    remote_mtime: null,
    executable: false,
    deleted: false,
    versions: 1,
    protected: true,
  });
  expect(all.files.filter((file) => file.protected)).toHaveLength(1);
});

test.each([
  [{ prefix: 'docs/' }, ['docs/a.txt', 'docs/b.md', 'docs/Deep/x.md']],
  [{ prefix: 'DOCS' }, ['docs.md', 'docs/a.txt', 'docs/b.md', 'docs/Deep/x.md']],
  [{ prefix: 'a.md' }, ['a.md']],
  [{ prefix: 'ω' }, ['Ωmega.md']],
  [{ prefix: 'nothing' }, []],
  [{ glob: '*.txt' }, ['docs/a.txt']],
  [{ glob: 'docs/*.md' }, ['docs/b.md']],
  [{ glob: 'docs/**' }, ['docs/a.txt', 'docs/b.md', 'docs/Deep/x.md']],
  [{ glob: '**/deep/?.md' }, ['docs/Deep/x.md']],
  [{ glob: '*.{txt,tsx}' }, ['docs/a.txt', 'src/app/page.tsx']],
  [{ glob: '/*.md' }, ['a.md', 'CLAUDE.md', 'docs.md', 'Ωmega.md']],
  [{ glob: '*.md', prefix: 'docs/' }, ['docs/b.md', 'docs/Deep/x.md']],
  [{ glob: 'gone*' }, []],
  [{ glob: 'gone*', include_deleted: true }, ['gone.md']],
])('[SYN-11] a filter lets through what it says: %j', async (args, expected) => {
  expect(await paths(args)).toEqual(expected);
  const { total_count: count } = await list(args);
  expect(count).toBe(expected.filter((path) => path !== 'gone.md').length);
});

test('[SYN-11] pages unite to the listing, whatever their size', async () => {
  for (const args of [{}, { glob: '*.md' }, { prefix: 'docs' }, { include_deleted: true }]) {
    const whole = await paths(args);
    for (const limit of [1, 2, 3, 7, 8, 9]) {
      const found: string[] = [];
      let page = await list({ ...args, limit });
      found.push(...page.files.map(({ path }) => path));
      while (page.has_more) {
        expect(page.files).toHaveLength(limit);
        page = await list({ ...args, limit, cursor: page.cursor });
        found.push(...page.files.map(({ path }) => path));
      }
      expect([args, limit, page.cursor, found]).toEqual([args, limit, null, whole]);
    }
  }
});

test('[SYN-11] a file that stays is listed once, whatever is written between the pages', async () => {
  const busy = await newDevice(hub);
  await pushMany(
    busy,
    Array.from({ length: 40 }, (_, n) => ({ path: `stay/${n + 10}`, content: `${n}` })),
  );
  const found: string[] = [];
  let page = await list({ limit: 7 }, busy);
  for (let turn = 0; ; turn += 1) {
    found.push(...page.files.map(({ path }) => path));
    if (!page.has_more) break;
    await busy.push(`a-before/${turn}`, 'x');
    await busy.push(`stay/${10 + turn * 3}`, 'changed');
    page = await list({ limit: 7, cursor: page.cursor }, busy);
  }
  expect(found.filter((path) => path.startsWith('stay/'))).toEqual(
    Array.from({ length: 40 }, (_, n) => `stay/${n + 10}`),
  );
});

test.each([
  [{ limit: 0 }, 'limit', /must be between 1 and 10000/],
  [{ limit: 10_001 }, 'limit', /must be between 1 and 10000/],
  [{ glob: '' }, 'glob', /must not be empty/],
  [{ glob: 'x'.repeat(201) }, 'glob', /must have at most 200 characters/],
  [{ glob: '!a' }, 'glob', /not \[sets\] or !/],
  [{ glob: '[ab].md' }, 'glob', /not \[sets\] or !/],
  [{ glob: '{a,b' }, 'glob', /closed/],
  [{ glob: '{a,{b,c}}' }, 'glob', /nested/],
  [{ glob: '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}' }, 'glob', /fewer/],
  [{ cursor: 'l1.W10.x' }, 'cursor', /answer of sync_list/],
  [{ vault_id: 'v_0000000000000000' }, 'vault_id', /no vault/],
  [{ gleb: 'x' }, 'gleb', /glob/],
])('[SYN-11] wrong arguments are refused: %j', async (args, field, sentence) => {
  const { code, data, message } = await device.refusal('sync_list', args);
  expect([code, data['field']]).toEqual([-32602, field]);
  expect(message).toMatch(sentence);
});

test('[SYN-11] a cursor is good for its own vault only, and a glob of many stars takes no time', async () => {
  const { cursor } = await list({ limit: 1 });
  const { vault_id } = await device.result<{ vault_id: string }>('vault_create', { name: 'other' });
  expect(await device.refusal('sync_list', { vault_id, cursor })).toMatchObject({
    code: -32602,
    data: { field: 'cursor' },
  });
  const stars = await newDevice(hub);
  await stars.push('a'.repeat(250), 'x');
  expect((await list({ glob: `${'*a'.repeat(90)}b` }, stars)).files).toEqual([]);
});
