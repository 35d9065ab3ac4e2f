/** Archives that are refused, and imports that are cut off: no account is there, nothing is left, and the next import works. */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askControl } from '../../src/control/socket.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { verified } from '../support/mirror-state.ts';
import {
  editManifest,
  exported,
  fullAccount,
  imported,
  importInto,
  type Line,
  linesOf,
  rewrite,
  rowsOf,
  type Section,
  textOf,
} from '../support/portable.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sound = { code: 0, ok: true, staged_uploads: 0, staged_contents: 0, imports: 0, problems: [] };

let folder: string;
let hub: Hub;
beforeAll(async () => {
  hub = await startHub();
  const owner = await fullAccount(hub);
  ({ folder } = await exported(hub, owner.email));
  await hub.stop();
  hub = await startHub();
});
afterAll(() => hub.stop());

/** Changes the first line of a section that `picks`. */
const edit =
  (section: Section, picks: Line, change: (line: Line, lines: Line[], at: number) => void) =>
  (at: string): void => {
    const lines = linesOf(at, section);
    const index = lines.findIndex((line) => Object.entries(picks).every(([name, value]) => line[name] === value));
    const line = lines[index];
    if (line === undefined) throw new Error(`no line of ${section} is ${JSON.stringify(picks)}`);
    change(line, lines, index);
    rewrite(at, section, textOf(lines));
  };

const set = (section: Section, picks: Line, members: Line) =>
  edit(section, picks, (line) => void Object.assign(line, members));

const blobsOf = (at: string): string[] => readdirSync(join(at, 'blobs')).map((name) => join(at, 'blobs', name));

const FAR = '2999-01-01T00:00:00.000Z';

const damages: [string, (at: string) => void, RegExp][] = [
  ['no folder', (at) => rmSync(at, { recursive: true }), /is not a readable folder/],
  ['no manifest', (at) => rmSync(join(at, 'manifest.json')), /manifest.json cannot be read \(ENOENT\)/],
  ['a manifest that is not JSON', (at) => writeFileSync(join(at, 'manifest.json'), '{'), /manifest.json is not JSON/],
  ['another format', (at) => writeFileSync(join(at, 'manifest.json'), '{"format":1}'), /does not describe an account/],
  [
    'a later version',
    (at) => editManifest(at, (m) => void Object.assign(m, { version: 2 })),
    /has version 2 of the format/,
  ],
  [
    'a time zone that there is not',
    (at) => editManifest(at, (manifest) => Object.assign(manifest['account'] as Line, { time_zone: 'Nowhere/At_all' })),
    /account.time_zone is not the IANA name/,
  ],
  ['a long manifest', (at) => appendFileSync(join(at, 'manifest.json'), ' '.repeat(70_000)), /is too long/],
  [
    'more in the manifest',
    (at) => editManifest(at, (m) => void Object.assign(m, { more: 1 })),
    /manifest.json: .*more/,
  ],
  ['an account from the future', (at) => editManifest(at, ahead), /account.created_at is not a time/],
  ['a wrong email', (at) => editManifest(at, (m) => void Object.assign(m['account'] as Line, { email: 'x' })), /name@/],
  ['a file that is gone', (at) => rmSync(join(at, 'docs.ndjson')), /docs.ndjson cannot be read/],
  ['a file that grew', (at) => appendFileSync(join(at, 'docs.ndjson'), '{}\n'), /docs.ndjson has \d+ bytes instead of/],
  ['a changed file', (at) => flip(join(at, 'handoffs.ndjson'), '-20"', '-21"'), /handoffs.ndjson is not the file/],
  ['a linked file', (at) => linked(join(at, 'tasks.ndjson')), /tasks.ndjson cannot be read \(it is a link\)/],
  ['linked contents', (at) => linked(join(at, 'blobs')), /is not a readable folder/],
  ['a linked content', (at) => linked(blobsOf(at)[0] ?? ''), /is a link/],
  ['a folder for a file', (at) => swapForFolder(join(at, 'tasks.ndjson')), /tasks.ndjson is not a plain file/],
  ['a content that is gone', (at) => rmSync(blobsOf(at)[0] ?? ''), /line \d+: blobs\/\w+ cannot be read/],
  ['a changed content', (at) => blobsOf(at).forEach(flipBit), /mirror.ndjson line \d+: blobs\/\w+ does not match/],
  ['no end', (at) => rewrite(at, 'tasks', '{"type":"counters"'), /tasks.ndjson ends in the middle of a line/],
  ['no JSON', (at) => rewrite(at, 'tasks', '{"type"\n'), /tasks.ndjson line 1: is not JSON/],
  ['no UTF-8', (at) => rewriteBytes(at), /tasks.ndjson line 1: is not JSON in UTF-8/],
  ['an endless line', (at) => rewrite(at, 'tasks', ' '.repeat(9_000_000)), /tasks.ndjson line 1: is longer than/],
  ['an unknown record', (at) => rewrite(at, 'tasks', '{"type":"wonder"}\n'), /tasks.ndjson line 1: type/],
  [
    'no counters',
    edit('tasks', { type: 'counters' }, (_, lines) => void lines.shift()),
    /line 1: the counters must be/,
  ],
  ['a number beyond', set('tasks', { type: 'counters' }, { task_id: 2 ** 53 - 1 }), /tasks.ndjson line 1: task_id/],
  ['a number above', set('tasks', { type: 'task' }, { id: 99 }), /line \d+: id 99 is above the counter/],
  ['a number twice', set('tasks', { type: 'task', id: 2 }, { id: 1 }), /id 1 must be above 1/],
  ['no such category', set('tasks', { type: 'task' }, { category_id: 2 }), /is not a category of the archive/],
  ['no status', set('tasks', { type: 'task' }, { kanban_status: 'done' }), /disagree/],
  ['a time ahead', set('tasks', { type: 'task' }, { updated_at: FAR }), /updated_at is ahead of the clock of this hub/],
  ['a version that is none', set('tasks', { type: 'task' }, { version: 0 }), /tasks.ndjson line \d+: version/],
  ['a day that is none', set('tasks', { type: 'task' }, { due_date: '2026-02-30' }), /due_date must be a date like/],
  ['a lone half', (at) => flip(join(at, 'tasks.ndjson'), 'plain', '\\ud800', true), /well-formed Unicode/],
  ['more members', set('papers', { type: 'paper' }, { __proto: 1 }), /papers.ndjson line \d+: .*__proto/],
  [
    'a missing version',
    edit('docs', { type: 'version', version: 2 }, (_, all, i) => void all.splice(i, 1)),
    /is missing|not the next/,
  ],
  ['a stray version', edit('docs', { type: 'doc' }, (_, all, i) => void all.splice(i, 1)), /must follow its document/],
  ['a title twice', set('docs', { title: 'own' }, { title: 'CLAUDE.md', category: 'claude' }), /already has a dev doc/],
  ['a name twice', set('handoffs', { time: '0930' }, { time: null }), /another handoff has this name/],
  [
    'a blob twice',
    edit(
      'mirror',
      { type: 'blob' },
      (line, all) => void all.push({ ...line, uploaded_at: all.at(-1)?.['uploaded_at'] }),
    ),
    /has this blob twice/,
  ],
  ['a huge blob', set('mirror', { type: 'blob' }, { byte_size: 60_000_000 }), /mirror.ndjson line 2: byte_size/],
  ['another size', set('mirror', { type: 'blob' }, { byte_size: 999 }), /has \d+ bytes instead of 999/],
  ['a path out of it', set('mirror', { type: 'blob' }, { sha256: '../../../../etc/passwd' }), /line 2: sha256/],
  ['a vault path out', set('vaults', { type: 'file' }, { path: '../x.md' }), /vaults.ndjson line \d+: path has a part/],
  ['a path in NFD', set('vaults', { type: 'file' }, { path: 'u\u0308.md' }), /path is not in Unicode form NFC/],
  ['a sequence back', set('vaults', { type: 'file', seq: 2 }, { seq: 1 }), /seq must be above 1/],
  [
    'a time back',
    edit('vaults', { type: 'file', seq: 2 }, (line) => {
      line['stored_at'] = new Date(Date.parse(String(line['stored_at'])) - 3_600_000).toISOString();
    }),
    /stored_at must be/,
  ],
  [
    'a clock ahead',
    set('vaults', { type: 'file' }, { hlc: `${FAR}-0000-0123456789abcdef` }),
    /hlc is ahead of the clock/,
  ],
  ['no clock', set('vaults', { type: 'file' }, { hlc: 'noon' }), /hlc is not a clock/],
  ['another content', set('vaults', { type: 'file' }, { content: 'other' }), /does not match the content/],
  ['no content', edit('vaults', { type: 'file' }, (line) => void delete line['content']), /not in both/],
  ['a file as a folder', set('vaults', { type: 'file', seq: 3 }, { path: 'notes/Grüße.md/x' }), /is below/],
  ['a deletion of nothing', set('vaults', { type: 'deleted' }, { sha256: 'ab'.repeat(32) }), /or is another file/],
  [
    'no vault',
    edit('vaults', { type: 'vault' }, (_, all) => void all.splice(0, all.length, ...withoutVaults(all))),
    /first line must be a vault/,
  ],
  ['a vault twice', set('vaults', { name: 'empty' }, { name: 'SECOND' }), /another vault has this name/],
  [
    'a conflict twice',
    edit('vaults', { type: 'conflict' }, (line, all, i) => void all.splice(i, 0, line)),
    /another conflict has this id/,
  ],
  [
    'an open end',
    set('vaults', { type: 'conflict', status: 'pending' }, { settled_at: '2026-11-20T00:00:00.000Z' }),
    /contradicts/,
  ],
];

const withoutVaults = (lines: readonly Line[]): Line[] => lines.filter(({ type }) => type !== 'vault');

function ahead(manifest: Line): void {
  Object.assign(manifest['account'] as Line, { created_at: FAR });
}

function flip(path: string, from: string, to: string, fits = false): void {
  const text = readFileSync(path, 'utf8').replace(from, to);
  if (fits) rewrite(join(path, '..'), 'tasks', text);
  else writeFileSync(path, text);
}

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function linked(path: string): void {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
}

function swapForFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function rewriteBytes(at: string): void {
  rewrite(at, 'tasks', '""\n');
  const bytes = Buffer.from([0x22, 0xff, 0x22, 0x0a]);
  writeFileSync(join(at, 'tasks.ndjson'), bytes);
  editManifest(at, (manifest) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    (manifest['files'] as Record<string, Line>)['tasks'] = { records: 1, bytes: bytes.length, sha256 };
  });
}

/** As the command asks for it, without a process of its own. */
async function importBy(at: string): Promise<object> {
  const request = JSON.stringify({ command: 'account.import', folder: at });
  const answer = await askControl(hub.dataFolder, request, (line) => line.startsWith('{"done"'));
  return JSON.parse(answer ?? '') as object;
}

test('[OPS-13] an archive that was tampered with is refused with the place and the reason, and leaves nothing', async () => {
  const before = rowsOf(hub);
  for (const [name, damage, reason] of damages) {
    const at = join(temporaryFolder(), 'archive');
    cpSync(folder, at, { recursive: true });
    damage(at);
    expect({ name, ...(await importBy(at)) }).toEqual({ name, ok: false, error: expect.stringMatching(reason) });
    expect({ name, rows: rowsOf(hub) }).toEqual({ name, rows: before });
    rmSync(at, { recursive: true, force: true });
  }
  const refused = await importInto(hub, join(folder, 'nothing'));
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^cairn: the archive is refused: .*\n$/),
  });
  await imported(hub, folder);
  expect(await verified(hub)).toMatchObject({ ...sound, accounts: 1 });
}, 180_000);

test('[OPS-13] a log whose oldest versions were let go of is taken, and one above the quota is not', async () => {
  const at = join(temporaryFolder(), 'archive');
  cpSync(folder, at, { recursive: true });
  const gone = linesOf(at, 'vaults').find(({ type }) => type === 'deleted');
  const kept = linesOf(at, 'vaults').filter(
    (line) =>
      !(line['path'] === gone?.['path'] && line['type'] === 'file') &&
      !(line['seq'] === 1 && line['status'] === 'created'),
  );
  expect(kept.length).toBeLessThan(linesOf(at, 'vaults').length - 1);
  rewrite(at, 'vaults', textOf(kept));
  // As an export wrote them before tasks had versions, and documents the names of those who changed them.
  for (const [section, type, member] of [
    ['tasks', 'task', 'version'],
    ['docs', 'doc', 'changed_by'],
    ['docs', 'version', 'changed_by'],
    ['handoffs', 'handoff', 'changed_by'],
    ['handoffs', 'version', 'changed_by'],
    ['papers', 'paper', 'changed_by'],
    ['papers', 'version', 'changed_by'],
  ] as const) {
    const lines = linesOf(at, section);
    expect([section, lines.some((line) => line['type'] === type && member in line)]).toEqual([section, true]);
    rewrite(
      at,
      section,
      textOf(lines.map((line) => (line['type'] === type ? { ...line, [member]: undefined } : line))),
    );
  }
  const roomy = await startHub();
  await imported(roomy, at);
  expect(await verified(roomy)).toMatchObject({ ...sound, accounts: 1 });
  await roomy.stop();
  const narrow = await startHub({ env: { CAIRN_SYNC_QUOTA_BYTES: '300000' } });
  const before = rowsOf(narrow);
  const refused = await importInto(narrow, at);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('CAIRN_SYNC_QUOTA_BYTES allows 300000') });
  expect(rowsOf(narrow)).toEqual(before);
  const still = await importInto(narrow, at, '--files', '1KiB');
  expect(still).toMatchObject({ code: 1, stderr: expect.stringContaining('allows 1024') });
  const own = await imported(narrow, at, '--files', '20MiB', '--documents', 'default', '--blobs', '3GiB');
  const { stdout } = await narrow.cli('account', 'show', '--email', own.email, '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    operator: true,
    own_quota_bytes: { files: 20 * 2 ** 20, blobs: 3 * 2 ** 30 },
  });
  expect(await verified(narrow)).toMatchObject({ ...sound, accounts: 1 });
  await narrow.stop();
}, 180_000);

test('[OPS-13] an option of an import that would do nothing is refused', async () => {
  for (const [args, why] of [
    [['--dry-run'], '--dry-run needs --from'],
    [['--server', 'http://127.0.0.1:1'], '--server needs --from'],
    [['--vault', 'notes'], '--vault needs --from'],
    [['--from', 'markdown', '--email', 'ada@example.org'], 'leave out --from'],
    [['--from', 'markdown', '--history', '1GiB'], 'leave out --from'],
  ] as const) {
    const into = join(temporaryFolder(), 'new');
    const refused = await runCairn(['import', folder, ...args], { CAIRN_DATA: into });
    expect([args, refused.code, refused.stderr]).toEqual([args, 2, expect.stringContaining(why)]);
    expect(existsSync(into)).toBe(false);
  }
});

test('[OPS-13] the form of an archive is described: every type of record and every member of one', () => {
  const described = readFileSync(new URL('../../src/archive/ARCHIVE.md', import.meta.url), 'utf8');
  for (const section of ['tasks', 'papers', 'docs', 'handoffs', 'mirror', 'vaults'] as const) {
    const part = described.split(/^## /m).find((text) => text.startsWith(`\`${section}.ndjson\``)) ?? '';
    const lines = linesOf(folder, section);
    expect(lines.length).toBeGreaterThan(0);
    const names = new Set(lines.flatMap((line) => [`"${String(line['type'])}"`, ...Object.keys(line)]));
    expect({ section, missing: [...names].filter((name) => !part.includes(`\`${name}\``)) }).toEqual({
      section,
      missing: [],
    });
  }
});
