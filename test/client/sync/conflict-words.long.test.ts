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
    new RegExp(`${device} changed the other side, \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.`),
  );
  expect(met.stderr).toContain('To see both: cairn sync diff n.md');
  const page = /http:\S+\/vaults\/\S+\/conflicts\/\S+/.exec(met.stderr)?.[0] ?? '';
  expect(page.startsWith(`${hub.url}/vaults/`)).toBe(true);
  // A page of a person, who signs in first.
  expect((await fetch(page, { redirect: 'manual' })).status).toBe(303);
}, 60_000);

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
}, 60_000);
