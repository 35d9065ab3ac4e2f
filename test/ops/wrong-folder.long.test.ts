/** Every command of an operator where there is no hub: it says what to do in one sentence, and leaves the folder as it was. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadGroups } from '../../src/cli/commands.ts';
import { runCairn } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PASSWORD = 'correct horse battery\n';
const ACCOUNT = ['--email', 'a@example.org'];
const AT_ONCE = 4;

/** An archive that is one up to its first section. */
function brokenArchive(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'blobs'));
  writeFileSync(join(folder, 'manifest.json'), '{}');
  return folder;
}

/** Those that need a hub, by name. */
const NEEDS_HUB: Readonly<Record<string, readonly string[]>> = {
  'account list': [],
  'account show': ACCOUNT,
  'account disable': ACCOUNT,
  'account enable': ACCOUNT,
  'account delete': [...ACCOUNT, '--confirm', 'a@example.org'],
  'account quota': [...ACCOUNT, '--files', '1GiB'],
  'account reset-2fa': ACCOUNT,
  'account operator': ACCOUNT,
  'account password': ACCOUNT,
  audit: ACCOUNT,
  backup: [join(temporaryFolder(), 'backup')],
  'client add': ['--name', 'x', '--redirect', 'https://app.example/callback'],
  'client list': [],
  'client remove': ['--id', 'ccl_0123456789abcdef0123456789abcdef'],
  compact: [],
  'device approve': ['BCDF-GHJK', '--email', 'a@example.org'],
  'device deny': ['BCDF-GHJK', '--email', 'a@example.org'],
  export: [...ACCOUNT, join(temporaryFolder(), 'archive')],
  follow: [join(temporaryFolder(), 'following')],
  'identity link': [...ACCOUNT, '--subject', 'ada'],
  'identity list': ACCOUNT,
  'identity unlink': [...ACCOUNT, '--id', 'identity_0123456789abcdef'],
  'invite create': [],
  'invite list': [],
  'invite revoke': ['--id', 'invite_0123456789abcdef'],
  'key create': [...ACCOUNT, '--name', 'x'],
  'key list': ACCOUNT,
  'key revoke': [...ACCOUNT, '--id', 'key_0123456789abcdef'],
  'member forget': ['east'],
  'member hand-over': [],
  'member leave': [],
  'member list': [],
  'member snapshot': [],
  'member why': [],
  rekey: [],
  stats: [],
  'token create': ACCOUNT,
  verify: [],
};

/** Those that make a hub, with what they cannot do, and the reason that they give. */
const MAKES_HUB: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['account create', ['--email', 'no address'], /email/],
  ['import', ['/nope'], /\/nope is not a readable folder/],
  ['import', [temporaryFolder()], /is not a readable folder/],
  ['import', [brokenArchive()], /manifest\.json/],
  ['restore', ['/nope'], /\/nope/],
  ['restore', [temporaryFolder()], /manifest\.json/],
];

const OPENINGS = ['key create', 'account password', 'verify', 'backup', 'follow', 'compact', 'rekey'];

/** These look at the machine, have a folder of their own, or run until they are stopped. */
const OTHERS = ['demo', 'doctor', 'health', 'serve', 'service install', 'service remove'];

async function inTurn<Of>(all: readonly Of[], run: (one: Of) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

test('the lists above name every command of an operator', async () => {
  const groups = (await loadGroups()).filter(({ title }) => title.includes('in the current folder'));
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
  const known = [...Object.keys(NEEDS_HUB), ...MAKES_HUB.map(([name]) => name), ...OTHERS];
  expect([...new Set(known)].sort()).toEqual(names.sort());
});

const all = Object.entries(NEEDS_HUB);

test.each([
  ['is empty', all, temporaryFolder],
  // The ways in which commands open a data file.
  ['is not there', all.filter(([name]) => OPENINGS.includes(name)), () => join(temporaryFolder(), 'none')],
] as const)(
  '[OPS-6] no command makes a hub of a folder that %s and was named by mistake',
  async (_kind, commands, newFolder) => {
    await inTurn(commands, async ([name, args]) => {
      const folder = newFolder();
      const done = await runCairn([...name.split(' '), ...args], { CAIRN_DATA: folder }, PASSWORD);
      expect([name, done.code, done.stderr]).toEqual([
        name,
        1,
        expect.stringMatching(/^cairn: .*without a data file.*\n$/),
      ]);
      expect([name, existsSync(folder) ? readdirSync(folder) : []]).toEqual([name, []]);
    });
  },
  240_000,
);

test('[OPS-6] a command that may make a hub and then refuses leaves none', async () => {
  await inTurn(MAKES_HUB, async ([name, args, reason]) => {
    const folder = temporaryFolder();
    const done = await runCairn([...name.split(' '), ...args], { CAIRN_DATA: folder });
    expect([name, done.code]).toEqual([name, 1]);
    expect(done.stderr).toMatch(reason);
    expect(done.stderr.trim().split('\n')).toHaveLength(1);
    expect([name, args, readdirSync(folder)]).toEqual([name, args, []]);
  });
});

test('[OPS-6] a hub that account create makes is told of, and serves; a folder that nobody can make is refused', async () => {
  const folder = temporaryFolder();
  const made = await runCairn(['account', 'create', ...ACCOUNT, '--json'], { CAIRN_DATA: folder });
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining(folder)]);
  expect(readdirSync(folder)).not.toContain('first-start');
  expect((await runCairn(['account', 'show', ...ACCOUNT], { CAIRN_DATA: folder })).code).toBe(0);
  // Node.js makes folders below /proc for ever.
  for (const data of ['/proc/none', '/proc/none/deeper']) {
    const refused = await runCairn(['account', 'create', ...ACCOUNT], { CAIRN_DATA: data });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^cairn: CAIRN_DATA \(.*\) cannot be written to: .*\n$/),
    ]);
  }
  const backup = await runCairn(['backup', '/proc/none/backup'], { CAIRN_DATA: folder });
  expect([backup.code, backup.stderr]).toEqual([
    1,
    expect.stringMatching(/^cairn: the backup could not be written to .*: .*\n$/),
  ]);
});

test('[OPS-6] a mistyped path is refused with one sentence that names it, without the words of the system', async () => {
  const folder = temporaryFolder();
  expect((await runCairn(['account', 'create', ...ACCOUNT], { CAIRN_DATA: folder })).code).toBe(0);
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const below = join(file, 'below');
  const long = join(temporaryFolder(), 'a'.repeat(300));
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    ...[below, long].flatMap((path) => [
      [['backup', path], /the backup could not be written to .*path/] as const,
      [['export', ...ACCOUNT, path], /the archive could not be written to .*path/] as const,
      [['follow', path], /cannot be (?:used|written to): .*path/] as const,
    ]),
    [['follow', file], /file cannot be written to: it, or a folder above it, is a file; correct the path/],
    [['import', file], /file is not a readable folder/],
    [['restore', file], /file is not a backup that can be read/],
    [['restore', '--at', 'now', file], /file is not a folder of backups/],
    [['restore', '--at', 'now', temporaryFolder()], /is not a folder of backups/],
    [['restore', '--at', 'now', below], /below is not a folder of backups/],
  ];
  await inTurn(refused, async ([args, sentence]) => {
    const into = args[0] === 'restore' ? temporaryFolder() : folder;
    const done = await runCairn(args, { CAIRN_DATA: into });
    expect([args, done.code, done.stdout]).toEqual([args, 1, '']);
    expect(done.stderr).toMatch(/^cairn: [^\n]*\n$/);
    expect(done.stderr).toMatch(sentence);
    expect(done.stderr).not.toMatch(/E[A-Z]{4,}|mkdtemp|syscall/);
  });
  for (const command of ['serve', 'verify', 'account list']) {
    const done = await runCairn(command.split(' '), { CAIRN_DATA: file });
    expect([command, done.code, done.stderr]).toEqual([
      command,
      1,
      expect.stringMatching(/^cairn: CAIRN_DATA .*file.*\n$/),
    ]);
    expect(done.stderr).not.toContain('permission');
  }
}, 120_000);
