/** What a person is told of a conflict, and the broom for conflict copies. */
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { syncedPair, textsOf } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

test('[SYN-30] a conflict is told with who changed the other side, when, and where both sides can be seen', async () => {
  const [a, b] = await syncedPair(hub, key, { 'n.md': 'one\n' });
  const { device_id: device } = JSON.parse(a.read('.cairn/state.json')) as { device_id: string };
  a.write('n.md', 'one of a\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  b.write('n.md', 'one of b\n');
  const met = await b.sync();
  expect(met.code).toBe(3);
  expect(met.stderr).toMatch(
    new RegExp(`${device} changed the other side, \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\)`),
  );
  expect(met.stderr).toContain('n.md has a conflict (+1 -1 lines here; ');
  expect(met.stderr).toContain('cairn sync mergetool n.md');
  expect((await b.sync('status')).stdout).toMatch(
    new RegExp(`conflict +n.md {2}\\(\\+1 -1 lines here; ${device} changed`),
  );
  const { conflict_sides: sides } = JSON.parse((await b.sync('status', '--json')).stdout) as Record<string, unknown>;
  expect(sides).toMatchObject({ 'n.md': { device, lines_here: 1, lines_there: 1 } });
  expect(met.stderr).toContain('To see both: cairn sync diff n.md');
  const page = /http:\S+\/vaults\/\S+\/conflicts\/\S+/.exec(met.stderr)?.[0] ?? '';
  expect(page.startsWith(`${hub.url}/vaults/`)).toBe(true);
  // A page of a person, who signs in first.
  expect((await fetch(page, { redirect: 'manual' })).status).toBe(303);
}, 180_000);

test('[SYN-30] copies lists conflict copies, and removes those that hold nothing new', async () => {
  const files = {
    'a.md': 'a\n',
    'a (conflict laptop-1 2026-11-22 013000).md': 'a\n',
    'docs/b.md': 'b, first\n',
    'docs/b (conflict laptop-1 2026-11-22 013000).md': 'b, first\n',
    'c (conflict laptop-1 2026-11-22 013000).md': 'c\n',
  };
  const [a, b] = await syncedPair(hub, key, files);
  a.write('docs/b.md', 'b, second\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  const listed = await a.sync('copies');
  expect(listed.stdout).toMatch(/equal +a \(conflict/);
  expect(listed.stdout).toMatch(/equal +docs\/b \(conflict/);
  expect(listed.stdout).toMatch(/differs +c \(conflict/);
  expect(listed.stdout).toContain('2 of 3 hold nothing new');
  const removed = await a.sync('copies', '--remove-equal');
  expect(removed.stdout).toContain('removed 2 files here');
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  const left = { 'a.md': 'a\n', 'docs/b.md': 'b, second\n', 'c (conflict laptop-1 2026-11-22 013000).md': 'c\n' };
  expect(textsOf(a)).toEqual(left);
  expect(textsOf(b)).toEqual(left);
}, 180_000);

test.runIf(process.platform === 'linux')(
  '[SYN-30] a file has at most ten copies beside it: the oldest goes, and its history stays',
  async () => {
    const copy = (day: number) => `f5 (conflict laptop-1 2026-11-${10 + day} 013000)`;
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, day) => [copy(day), `${day}\n`]));
    const [a, b] = await syncedPair(hub, key, { ...files, f5: 'first\n' });
    a.write('F5', 'twin\n');
    const met = await a.sync();
    expect(met.stdout).toContain('the oldest of more than 10 copies');
    expect(await a.sync()).toMatchObject({ code: 0 });
    const copies = Object.keys(textsOf(a)).filter((path) => path.includes('(conflict'));
    expect(copies).toHaveLength(10);
    expect(copies).not.toContain(copy(0));
    expect(await b.sync()).toMatchObject({ code: 0 });
    expect(textsOf(b)).toEqual(textsOf(a));
    expect((await a.sync('history', copy(0))).stdout).toContain('#');
  },
  180_000,
);
