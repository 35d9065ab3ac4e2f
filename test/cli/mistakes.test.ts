/** Typing mistakes at the command line: each is refused in one line that says what to type instead. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCairn } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const file = join(temporaryFolder(), 'file');
writeFileSync(file, '');

/** What is typed after `cairn`, and what the answer has. */
const MISTAKES: readonly (readonly [typed: string, leads: RegExp])[] = [
  ['taks', /`cairn tasks`/],
  ['task', /`cairn tasks`/],
  ['todo', /`cairn tasks`/],
  ['ls', /`cairn sync list`/],
  ['status', /`cairn sync status`/],
  ['push', /`cairn sync push`/],
  ['signin', /`cairn login`/],
  ['users', /`cairn account list`/],
  ['start', /`cairn serve`/],
  ['vaults', /`cairn vault list`/],
  ['note', /`cairn docs`/],
  ['handoffs', /`cairn handoff`/],
  ['tasks list', /`cairn tasks`/],
  ['tasks rm 3', /`cairn tasks remove`/],
  ['tasks delete 3', /`cairn tasks remove`/],
  ['tasks complete 3', /`cairn tasks done`/],
  ['tasks new x', /`cairn tasks add`/],
  ['task rm 3', /`cairn tasks remove`/],
  ['vault ls', /`cairn vault list`/],
  ['vault rm x', /`cairn vault delete`/],
  ['vault mv a b', /`cairn vault rename`/],
  ['docs cat x', /`cairn docs show`/],
  ['docs rm x', /`cairn docs remove`/],
  ['key delete', /`cairn key revoke`/],
  ['key revoke key_12', /`cairn key revoke --id key_12`\?/],
  ['key revoke key_12 --email a@example.org', /`cairn key revoke --email a@example.org --id key_12`\?/],
  ['key list a@example.org', /`cairn key list --email a@example.org`\?/],
  ['account disable a@example.org', /`cairn account disable --email a@example.org`\?/],
  ['invite revoke invite_12', /`cairn invite revoke --id invite_12`\?/],
  ['sync statsu', /`cairn sync status`/],
  ['sync fetch', /`cairn sync pull`/],
  ['mirror psuh', /`cairn backups push`/],
  ['backups ls', /`cairn backups list`/],
  ['backups', /needs one of: init, push/],
  ['backup push', /`cairn backups push`/],
  ['sync --dry-run', /`cairn sync status`/],
  ['tasks --due today', /--today/],
  ['tasks --serch x', /--search\?/],
  ['tasks --status doen', /did you mean done\?/],
  ['tasks done', /`cairn tasks done 7`/],
  ['tasks done seven', /whole number, as the list shows it/],
  ['tasks --limit seven', /--limit must be a whole number;/],
  ['tasks --open', /`cairn tasks` lists those/],
  ['tasks add Rest --priority high', /use --important/],
  ['search dentist', /did you mean `cairn find`\?/],
  ['remember tabs', /did you mean `cairn call remember`\?/],
  ['docs rename a.md b.md', /did you mean `cairn docs move`\?/],
  ['tasks add buy milk', /put the text in quotes: cairn tasks add 'buy milk'/],
  ['tasks add x --due someday', /tomorrow, a weekday, in 3 days/],
  ['tasks add x --due 2026-13-45', /no date/],
  ['tasks --limit many', /whole number/],
  [`sync --folder ${file}`, /is a file; pass the folder/],
  ['completion tcsh', /bash, zsh, fish/],
  ['help cairn_prot', /CAIRN_PORT/],
  ['help taks', /`cairn help tasks`/],
  ['tasks lsit', /`cairn tasks`/],
  ['backups lst', /`cairn backups list`/],
  ['backups rm', /`cairn backups prune`/],
  ['backups --limit', /needs one of/],
  ['backups drll', /`cairn backups drill`/],
  ['backups fetch', /`cairn backups pull`/],
  ['backups upload', /`cairn backups push`/],
  ['member lst', /`cairn member/],
  ['members', /`cairn member/],
  ['member rm', /`cairn member leave`/],
  ['import', /needs PATH/],
  ['import x --form todoist', /--from\?/],
  ['imprt x', /`cairn import`/],
  ['tasks --category', /--category needs a value/],
];

/** Started at the same time: each starts a process. */
const AT_ONCE = 4;

test('[CLI-5] 69 typing mistakes each lead on', async () => {
  const env = { XDG_CONFIG_HOME: temporaryFolder(), CAIRN_SERVER: 'http://127.0.0.1:9', CAIRN_KEY: 'a'.repeat(64) };
  const told: { typed: string; code: number; lines: number; stderr: string }[] = [];
  const left = [...MISTAKES];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [typed] = next;
      const words = typed.split(' ');
      const { code, stdout, stderr } = await runCairn(words, env);
      told.push({ typed, code, lines: stderr.trim().split('\n').length, stderr: `${stdout}${stderr}` });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const wrong = MISTAKES.filter(([typed, leads]) => {
    const found = told.find((one) => one.typed === typed);
    return found === undefined || found.code === 0 || found.lines !== 1 || !leads.test(found.stderr);
  });
  expect(wrong.map(([typed]) => told.find((one) => one.typed === typed))).toEqual([]);
  expect(MISTAKES).toHaveLength(69);
}, 300_000);

test('[CLI-5] what other programs take is taken here too: a version, and help as a word', async () => {
  const { stdout: version } = await runCairn(['--version'], {});
  expect(version).toMatch(/^\d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n$/);
  for (const words of [['-v'], ['-V'], ['version']]) expect((await runCairn(words, {})).stdout).toBe(version);
  expect((await runCairn(['tasks', 'help'], {})).stdout).toContain('cairn tasks [--status');
  expect((await runCairn(['help', 'cairn_port'], {})).stdout).toContain('CAIRN_PORT');
  expect((await runCairn(['help', 'vault'], {})).stdout).toContain('cairn vault create');
});

/** Berlin's clocks went back at 3:00 on 25 October 2026 and ahead at 2:00 on 29 March; those of Lord Howe go by half an hour. */
test.each([
  [
    'Europe/Berlin',
    '2026-10-25 02:30',
    /was twice.*2026-10-25T02:30\+02:00 or, for the later one, 2026-10-25T02:30\+01:00/,
  ],
  [
    'Europe/Berlin',
    '2026-10-25 02:30:15',
    /2026-10-25T02:30:15\+02:00 or, for the later one, 2026-10-25T02:30:15\+01:00/,
  ],
  ['Europe/Berlin', '2026-10-25 02:30:15.5', /2026-10-25T02:30:15\.500\+02:00 or/],
  ['Europe/Berlin', '25 oct 2026 2:30', /was twice/],
  ['Europe/Berlin', '2026-03-29T02:30', /never was.*an earlier or a later time/],
  ['Europe/Berlin', '2026-10-25 03:00', /is not a folder of backups/],
  ['Europe/Berlin', '2026-10-25T02:30+01:00', /is not a folder of backups/],
  ['Europe/Berlin', '2026-10-25', /is not a folder of backups/],
  ['Australia/Lord_Howe', '2026-04-05 01:45', /2026-04-05T01:45\+11:00 or, for the later one, 2026-04-05T01:45\+10:30/],
  ['America/New_York', '2026-11-01 01:15', /2026-11-01T01:15-04:00 or, for the later one, 2026-11-01T01:15-05:00/],
  ['Asia/Seoul', '2026-10-25 02:30', /is not a folder of backups/],
  // Midnight never was in Santiago on that day, which begins at 1:00.
  ['America/Santiago', '2026-09-06', /is not a folder of backups/],
])('[CLI-9] in %s, --at %j goes to one moment or asks which', async (TZ, at, says) => {
  const env = { TZ, CAIRN_DATA: join(temporaryFolder(), 'data') };
  const { code, stderr } = await runCairn(['restore', '--at', at, temporaryFolder()], env);
  expect(stderr).toMatch(says);
  expect(code).toBeGreaterThan(0);
});
