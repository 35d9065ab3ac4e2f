/** cairn sync with real processes over one hub: folders converge, and no edit is lost on the way. */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { contentsOf, syncedFolder } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const CONVERGE_MS_MAX = 30_000;

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;

const device = (vault: string) => syncedFolder(hub, key, vault);

test('[CLI-2] files go from one folder to another: text, binary, empty, nested, odd names; deletes follow', async () => {
  const vault = newVault();
  const [a, b] = [device(vault), device(vault)];
  a.write('notes/today.md', '# Today\n');
  a.write('notes/ünïcode – ☃.md', 'naïve');
  a.write('empty', '');
  a.write('image.bin', randomBytes(70_000));
  a.write('large.txt', `${'line of text \u2028 "quoted" \\ \u0001\n'.repeat(20_000)}`);
  a.write('.git/config', 'never synced');
  a.write('.cairnignore', '*.log\nbuild/\n');
  a.write('debug.log', 'ignored');
  a.write('build/out.js', 'ignored');
  symlinkSync('/etc/hostname', a.at('link'));
  const first = await a.sync();
  expect(first.stdout).toMatch(/pushed +notes\/today\.md/);
  expect(first.stdout).toContain('not synced: 1 link');
  expect(await b.sync()).toMatchObject({ code: 0, stderr: '' });
  const shared = Object.fromEntries(
    Object.entries(contentsOf(a.folder)).filter(([path]) => !/^(\.git\/|debug\.log|build\/)/.test(path)),
  );
  expect(contentsOf(b.folder)).toEqual(shared);

  b.remove('notes/today.md');
  b.write('notes/new.md', 'new\n');
  expect(await b.sync()).toMatchObject({ code: 0 });
  await a.sync();
  expect(a.has('notes/today.md')).toBe(false);
  expect(a.read('notes/new.md')).toBe('new\n');
  expect((await b.sync('status')).stdout.trim()).toBe('up to date');
  expect(statSync(join(a.folder, '.cairn', 'state.json')).mode & 0o777).toBe(0o600);
}, 180_000);

test('[CLI-2] edits in different places are merged; in the same place they wait, and each choice does what it says', async () => {
  const vault = newVault();
  const [a, b] = [device(vault), device(vault)];
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);
  const edited = (index: number, text: string) => lines.with(index, text).join('');
  for (const name of ['apart', 'mine', 'theirs', 'both']) a.write(`${name}.txt`, lines.join(''));
  await a.sync();
  await b.sync();
  a.write('apart.txt', edited(2, 'changed by a\n'));
  b.write('apart.txt', edited(15, 'changed by b\n'));
  for (const name of ['mine', 'theirs', 'both']) {
    a.write(`${name}.txt`, edited(5, 'a\n'));
    b.write(`${name}.txt`, edited(5, 'b\n'));
  }
  await a.sync();
  const met = await b.sync();
  expect(met.code).toBe(3);
  expect(met.stdout).toMatch(/merged +apart\.txt/);
  expect(met.stderr).toMatch(
    /mine\.txt has a conflict \(\+1 -1 lines here; .*\)\. Choose a side: cairn sync resolve mine\.txt --keep/,
  );
  for (const name of ['mine', 'theirs', 'both']) expect(b.read(`${name}.txt`)).toBe(edited(5, 'b\n'));
  const status = await b.sync('status', '--json');
  expect([status.code, JSON.parse(status.stdout)]).toMatchObject([
    3,
    { conflict: ['both.txt', 'mine.txt', 'theirs.txt'] },
  ]);
  // Asked again, nothing new happens: the hub keeps our side already.
  expect((await b.sync()).code).toBe(3);

  expect(await b.sync('resolve', 'mine.txt', '--keep', 'mine')).toMatchObject({ code: 3 });
  expect(await b.sync('resolve', 'theirs.txt', '--keep', 'theirs')).toMatchObject({ code: 3 });
  expect(b.read('theirs.txt')).toBe(edited(5, 'a\n'));
  await b.sync('resolve', 'both.txt', '--keep', 'merge');
  expect(b.read('both.txt')).toMatch(/<<<<<<<[\s\S]*b\n=======\na\n>>>>>>>/);
  b.write('both.txt', edited(5, 'a and b\n'));
  expect(await b.sync('resolve', 'both.txt', '--keep', 'mine')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0, stderr: '' });
  expect(a.read('mine.txt')).toBe(edited(5, 'b\n'));
  expect(a.read('both.txt')).toBe(edited(5, 'a and b\n'));
  expect(a.read('apart.txt')).toBe(lines.with(2, 'changed by a\n').with(15, 'changed by b\n').join(''));
  await b.sync();
  expect(contentsOf(a.folder)).toEqual(contentsOf(b.folder));
  const pending = await runCairn(['call', 'sync_pending_conflicts', '--json'], {
    CAIRN_SERVER: hub.url,
    CAIRN_KEY: key,
  });
  expect(JSON.parse(pending.stdout)).toMatchObject({ count: 0 });
}, 180_000);

test('[CLI-2] a change beats a delete on either side, and equal files of two folders just agree', async () => {
  const vault = newVault();
  const [a, b] = [device(vault), device(vault)];
  for (const path of ['x', 'y', 'same']) a.write(path, `${path}\n`);
  b.write('same', 'same\n');
  await a.sync();
  expect((await b.sync()).stdout).not.toContain('same');
  a.remove('x');
  b.write('x', 'x changed\n');
  await a.sync();
  expect((await b.sync()).stdout).toMatch(/kept +x/);
  a.write('y', 'y changed\n');
  await a.sync();
  b.remove('y');
  expect((await b.sync()).stdout).toMatch(/revived +y/);
  await a.sync();
  expect(contentsOf(a.folder)).toEqual(contentsOf(b.folder));
  expect(a.read('x')).toBe('x changed\n');
  expect(b.read('y')).toBe('y changed\n');
}, 180_000);

test('[CLI-2] a folder that lost most of its files deletes nothing on the hub unless told to', async () => {
  const vault = newVault();
  const a = device(vault);
  for (let i = 0; i < 50; i += 1) a.write(`f${i}`, String(i));
  await a.sync();
  for (let i = 0; i < 45; i += 1) a.remove(`f${i}`);
  const refused = await a.sync();
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('--allow-deletes');
  expect(await a.sync('--allow-deletes')).toMatchObject({ code: 0 });
  const b = device(vault);
  await b.sync('pull');
  expect(Object.keys(contentsOf(b.folder))).toHaveLength(5);
}, 180_000);

test('[CLI-2] what the hub sends is written inside the folder only: never behind a link', async () => {
  const vault = newVault();
  const [a, b] = [device(vault), device(vault)];
  a.write('inside/file', 'from a\n');
  await a.sync();
  const elsewhere = temporaryFolder();
  symlinkSync(elsewhere, b.at('inside'));
  const met = await b.sync();
  expect(met.code).toBe(1);
  expect(met.stderr).toContain('inside/file is not synced');
  expect(readdirSync(elsewhere)).toEqual([]);
  rmSync(b.at('inside'));
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(b.read('inside/file')).toBe('from a\n');
}, 180_000);

test('[CLI-2] two watched folders converge under concurrent edits, a kill and a restart, and no edit is lost', async () => {
  const vault = newVault();
  const [a, b] = [device(vault), device(vault)];
  let watchers = [a.watch(), b.watch()];
  const written: string[] = [];
  for (let round = 0; round < 6; round += 1) {
    for (const [name, machine] of [
      ['a', a],
      ['b', b],
    ] as const) {
      const text = `${name} ${round} ${randomBytes(6).toString('hex')}`;
      // Own files, and one that both append to.
      machine.write(`${name}/${round}.md`, `${text}\n`);
      const shared = machine.has('shared.md') ? machine.read('shared.md') : '';
      machine.write('shared.md', name === 'a' ? `${text}\n${shared}` : `${shared}${text}\n`);
      written.push(text);
    }
    await sleep(400);
    if (round === 2) {
      await watchers[1]?.kill();
      watchers = [watchers[0] as (typeof watchers)[number], b.watch()];
    }
  }
  await converge(a, b);
  expect(await Promise.all(watchers.map((watcher) => watcher.stop()))).toEqual([
    expect.any(Number),
    expect.any(Number),
  ]);
  // Every edit is in a file of both, or waits as a conflict of which the hub keeps the bytes.
  const everywhere = Object.values(contentsOf(a.folder)).map((text) => Buffer.from(text, 'base64').toString());
  const own = [a, b]
    .flatMap((machine) => Object.values(contentsOf(machine.folder)))
    .map((text) => Buffer.from(text, 'base64').toString());
  for (const text of written) {
    expect(everywhere.some((content) => content.includes(text))).toBe(true);
    expect(own.some((content) => content.includes(text))).toBe(true);
  }
}, 120_000);

async function converge(a: ReturnType<typeof device>, b: ReturnType<typeof device>): Promise<void> {
  const own = (files: Record<string, string>) => Object.keys(files).filter((path) => path !== 'shared.md');
  const untilMs = Date.now() + CONVERGE_MS_MAX;
  while (Date.now() < untilMs) {
    const [x, y] = [contentsOf(a.folder), contentsOf(b.folder)];
    if (own(x).length === 12 && own(y).length === 12) return;
    await sleep(200);
  }
  throw new Error(
    `not converged: ${JSON.stringify([Object.keys(contentsOf(a.folder)), Object.keys(contentsOf(b.folder))])}`,
  );
}

test('[CLI-2] a vault with a misspelt name is not created unless that is meant', async () => {
  const vault = newVault();
  const [a, b] = [device(vault), device(`${vault}x`)];
  a.write('x', 'x\n');
  await a.sync();
  expect(await b.sync()).toMatchObject({ code: 1, stderr: expect.stringContaining(`Did you mean "${vault}"?`) });
  expect(await b.sync('--create')).toMatchObject({ code: 0 });
  expect(contentsOf(b.folder)).toEqual({});
}, 180_000);

test('[CLI-1] every option of the sync commands is explained by the help', async () => {
  const { stdout: overview } = await runCairn(['--help'], {});
  const names = [...overview.matchAll(/^ {2}cairn (sync(?: [a-z]+)?) {2,}/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(6);
  for (const name of names) {
    const { stdout } = await runCairn([...name.split(' '), '--help'], {});
    const [synopsis = '', ...rest] = stdout.split('\n');
    for (const [option] of synopsis.matchAll(/--[a-z-]+/g)) {
      expect(
        rest.some((line) => new RegExp(`^ {2}${option}( [^ ]+)? {2,}[a-z]`).test(line)),
        `${name} ${option}`,
      ).toBe(true);
    }
  }
}, 180_000);
