/** Conflicts in a merge tool, and the other side of a file that no tool merges. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { type SyncedFolder, syncedPair } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** The same line changed on both sides, and `bytes` of a picture. */
async function conflicting(): Promise<[SyncedFolder, SyncedFolder]> {
  const [a, b] = await syncedPair(hub, key, { 'n.md': 'one\ntwo\nthree\n', 'p.png': Buffer.from([137, 0, 1]) });
  a.write('n.md', 'one\ntwo of a\nthree\n');
  a.write('p.png', Buffer.from([137, 0, 2, 255]));
  expect(await a.sync()).toMatchObject({ code: 0 });
  b.write('n.md', 'one\ntwo of b\nthree\n');
  b.write('p.png', Buffer.from([137, 0, 3]));
  expect(await b.sync()).toMatchObject({ code: 3 });
  return [a, b];
}

test('[SYN-30] a merge tool gets the four files of git, and its result settles the conflict', async () => {
  const [a, b] = await conflicting();
  const out = temporaryFolder();
  const keep = ['BASE', 'LOCAL', 'REMOTE', 'MERGED'].map((name) => `cp "$${name}" '${out}/${name}'`).join(' && ');
  const tool = (then: string) => ['mergetool', 'n.md', '--tool', `${keep} && ${then} # $BASE`];
  // A tool that fails, and one that changes nothing.
  expect(await b.sync(...tool('exit 3'))).toMatchObject({ code: 1, stderr: expect.stringContaining('not merged') });
  expect(await b.sync(...tool('true'))).toMatchObject({ code: 1, stderr: expect.stringContaining('markers') });
  expect(b.read('n.md')).toBe('one\ntwo of b\nthree\n');
  const given = (name: string) => readFileSync(join(out, name), 'utf8');
  expect(given('BASE')).toBe('one\ntwo\nthree\n');
  expect(given('LOCAL')).toBe('one\ntwo of b\nthree\n');
  expect(given('REMOTE')).toBe('one\ntwo of a\nthree\n');
  expect(given('MERGED')).toMatch(/<<<<<<< .*\ntwo of b\n=======\ntwo of a\n>>>>>>> /);
  const merged = 'one\ntwo of both\nthree\n';
  writeFileSync(join(out, 'result'), merged);
  const done = await b.sync(...tool(`cp '${out}/result' "$MERGED"`));
  expect(done).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('settled: mine') });
  expect(b.read('n.md')).toBe(merged);
  expect(readdirSync(b.at('.cairn/merge'))).toEqual([]);
  await a.sync();
  expect(a.read('n.md')).toBe(merged);
  expect(await b.sync('mergetool', 'n.md', '--tool', 'meld')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no conflict'),
  });
}, 180_000);

test('[SYN-30] a merge without a conflict is taken as it is, and lines of a file that look like markers are its own', async () => {
  const [a, b] = await conflicting();
  const head = '<<<<<<< a heading of its own\n';
  b.write('n.md', `one\ntwo of a\nthree\n${head}`);
  expect(await b.sync('mergetool', 'n.md', '--tool', 'true "$BASE"')).toMatchObject({ code: 0, stderr: '' });
  await a.sync();
  expect(a.read('n.md')).toBe(`one\ntwo of a\nthree\n${head}`);
}, 180_000);

test('[SYN-30] what changed while a tool ran is not taken over, and a tool that nobody set is asked for', async () => {
  const [a, b] = await conflicting();
  const edit = `printf 'later\\n' > '${b.at('n.md')}'; printf 'merged\\n' > "$MERGED"`;
  expect(await b.sync('mergetool', 'n.md', '--tool', edit)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('changed while it was merged'),
  });
  expect(b.read('n.md')).toBe('later\n');
  expect(await b.sync('mergetool', 'n.md', '--tool', 'no-such')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('mergetool.no-such.cmd'),
  });
  // Without a name, all of them: the picture is told, the text is merged.
  const all = await b.sync('mergetool', '--tool', `printf 'merged\\n' > "$MERGED"`);
  expect(all).toMatchObject({ code: 3, stderr: expect.stringContaining('p.png is not text') });
  expect(b.read('n.md')).toBe('merged\n');
  await a.sync();
  expect(a.read('n.md')).toBe('merged\n');
}, 180_000);

test('[SYN-30] the other side of a picture is one command away, which the sync prints', async () => {
  const [, b] = await conflicting();
  const { stderr } = await b.sync();
  const [, command = ''] =
    /p\.png has a conflict.*To see both: (cairn sync cat p\.png --theirs[^>]*> p\.theirs\.png)/.exec(stderr) ?? [];
  expect(command).not.toBe('');
  expect(existsSync(b.at('p.theirs.png'))).toBe(false);
  const { code, stdout } = await b.sync('cat', 'p.png', '--theirs', '--json');
  expect(code).toBe(0);
  const { content } = JSON.parse(stdout) as { content: string };
  expect([...Buffer.from(content, 'base64')]).toEqual([137, 0, 2, 255]);
  expect(await b.sync('cat', 'n.md')).toMatchObject({ code: 0, stdout: 'one\ntwo of a\nthree\n' });
  expect(await b.sync('cat', 'nothing.md')).toMatchObject({ code: 1 });
}, 180_000);
