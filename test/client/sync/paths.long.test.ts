/** Paths from a hub or a peer: nothing outside the folder is read, written or removed, and no odd name stops the rest. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, textsOf } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;

function pair(): [SyncedFolder, SyncedFolder] {
  const vault = newVault();
  return [syncedFolder(hub, key, vault), syncedFolder(hub, key, vault)];
}

const WINDOWS_CANNOT = ['10:30.md', 'What?.md', '"a" <b> | c.md', 'Makefile.', 'end /f', 'CON', 'a./b', 'c:d'];

test('[SYN-24] a file that a peer pushed under a name that is a symbolic link here is neither read nor sent', async () => {
  const [a, b] = pair();
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret.txt'), 'the secret\n');
  symlinkSync(outside, b.at('link'));
  a.write('link/secret.txt', 'of a peer\n');
  a.write('other.md', 'other\n');
  await a.sync();
  const met = await b.sync();
  expect(met.stdout + met.stderr).toMatch(/link/);
  expect(met.code).toBe(1);
  expect(b.read('other.md')).toBe('other\n');
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('the secret\n');
  const pending = await b.call('sync_pending_conflicts', '--json', `--vault_id=${vaultOfFolder(b)}`);
  expect(JSON.parse(pending.stdout)).toMatchObject({ count: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(a.read('link/secret.txt')).toBe('of a peer\n');
}, 180_000);

test.each([
  'x/../../outside.txt',
  '/etc/cairn-test',
  '..',
  '.git/hooks/post-checkout',
  'a/.GIT/config',
  '.cairn/state.json',
  '.Cairn/x',
  'sub/.cairn/x',
  'git~1/config',
  '.c\u200cairn/x',
  'a\\b',
  'bell\u0007',
  '\u001b[31mred',
])(
  '[SYN-24] a path that a hub must not name is refused, said without its escapes, and never sent back: %j',
  async (bad) => {
    const vault = newVault();
    const relay = await startRelay(hub);
    const [a, b] = [
      syncedFolder(hub, key, vault),
      syncedFolder(relay, key, vault, join(temporaryFolder(), 'deep', 'b')),
    ];
    mkdirSync(b.folder, { recursive: true });
    writeFileSync(join(b.folder, '..', '..', 'outside.txt'), 'outside\n');
    a.write('PLACEHOLDER', 'hostile\n');
    a.write('good.md', 'good\n');
    await a.sync();
    const escaped = JSON.stringify(bad).slice(1, -1);
    relay.rules = { rewrites: (answer) => answer.replaceAll('PLACEHOLDER', escaped) };
    const met = await b.sync();
    expect(met.code).toBe(1);
    expect(met.stdout + met.stderr).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(b.read('good.md')).toBe('good\n');
    expect(Object.keys(textsOf(b))).toEqual(['good.md']);
    expect(readFileSync(join(b.folder, '..', '..', 'outside.txt'), 'utf8')).toBe('outside\n');
    expect(readdirSync(join(b.folder, '..', '..')).sort()).toEqual(['deep', 'outside.txt']);
    expect(relay.requests.filter(({ body }) => body.includes('sync_push') || body.includes('sync_merge'))).toEqual([]);
    await relay.close();
  },
  180_000,
);

test('[SYN-24] names of the language this is written in are names like any other', async () => {
  const [a, b] = pair();
  const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty', '__proto__x/__proto__'];
  for (const name of names) a.write(name, `${name}\n`);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
  b.write('__proto__', 'changed\n');
  b.remove('constructor');
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(a.read('__proto__')).toBe('changed\n');
  expect(a.has('constructor')).toBe(false);
}, 180_000);

test('[SYN-24] names that no vault takes are listed with a reason, and the rest is synced', async () => {
  const [a, b] = pair();
  a.write('good.md', 'good\n');
  a.write('\u{1f468}\u200d\u{1f469}.md', 'family\n');
  a.write('what\u3164.md', 'refused by the hub\n');
  a.write('red\u001b[31m.md', 'an escape\n');
  a.write('nested/.cairn/state.json', 'of another folder\n');
  a.write('nested/note.md', 'note\n');
  writeFileSync(Buffer.concat([Buffer.from(`${a.folder}/caf`), Buffer.from([0xe9]), Buffer.from('.md')]), 'latin-1\n');
  const first = await a.sync();
  expect(first.code).toBe(1);
  const said = first.stdout + first.stderr;
  expect(said).toMatch(/what.+md/);
  expect(said).toMatch(/caf.*UTF-8/);
  expect(said).not.toContain('\u001b');
  expect(said.match(/what.+md/g)).toHaveLength(1);
  await b.sync();
  expect(textsOf(b)).toEqual({
    'good.md': 'good\n',
    'nested/note.md': 'note\n',
    '\u{1f468}\u200d\u{1f469}.md': 'family\n',
  });
}, 180_000);

const vaultOfFolder = ({ read }: SyncedFolder) =>
  (JSON.parse(read('.cairn/state.json')) as { vault_id: string }).vault_id;

test('[SYN-15, SYN-24] names that only Windows cannot hold are synced between systems that can', async () => {
  const [a, b] = pair();
  const files = Object.fromEntries(WINDOWS_CANNOT.map((name) => [name, `${name}\n`]));
  for (const [name, text] of Object.entries(files)) a.write(name, text);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(files);
  for (const name of WINDOWS_CANNOT) b.write(name, 'edited\n');
  b.rename('What?.md', 'What*.md');
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual(textsOf(b));
  expect((await a.sync('forget', 'What*.md')).stdout).toContain('What\\*.md');
  expect((await a.sync('history', '10:30.md')).code).toBe(0);
}, 180_000);
