/** `cairn backup --since` and `cairn restore --at`: a chain of backups, each with what is new since the one before. */
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { canSetClocks, ProcessClock } from '../support/members.ts';
import { mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('[OPS-11] a chain of backups restores the hub of each moment; a missing link is said in one sentence', async () => {
  const hub = await startHub();
  const owner = await mirrorAccount(hub);
  const backups = temporaryFolder();
  const names = ['first', 'second', 'third'];
  const moments: { readonly madeAt: string; readonly blobs: unknown }[] = [];
  for (const [index, name] of names.entries()) {
    await upload(hub, owner, randomCommit(), randomBytes(index === 0 ? 3_000_000 : 50_000));
    const since = index === 0 ? [] : ['--since', join(backups, names[index - 1] ?? '')];
    const made = await hub.cli('backup', ...since, join(backups, name), '--json', '--with-key');
    expect([made.code, made.stderr]).toEqual([0, '']);
    moments.push({ madeAt: String(JSON.parse(made.stdout).made_at), blobs: await listAll(hub, owner) });
  }
  const written = readdirSync(join(backups, 'third'));
  expect(written.sort()).toEqual(['changes.bin', 'manifest.json', 'master.key']);
  const [all, changes] = [join(backups, 'first', 'cairn.mdb'), join(backups, 'third', 'changes.bin')];
  expect(statSync(changes).size).toBeLessThan(statSync(all).size / 4);
  const elsewhere = await hub.cli('backup', '--since', join(backups, 'third'), join(temporaryFolder(), 'x'));
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    1,
    expect.stringContaining('--since must name a backup in the folder'),
  ]);
  // The newest is based on all the others, so all of them stay.
  const kept = await hub.cli(
    'backup',
    '--since',
    join(backups, 'third'),
    '--keep',
    '1',
    join(backups, 'fourth'),
    '--json',
  );
  expect([kept.code, JSON.parse(kept.stdout).removed]).toEqual([0, []]);
  await hub.stop();
  for (const { madeAt, blobs } of moments) {
    const folder = temporaryFolder();
    const done = await runCairn(['restore', '--at', madeAt, backups, '--json'], { CAIRN_DATA: folder });
    expect([done.code, done.stderr]).toEqual([0, '']);
    const again = await startHub({ dataFolder: folder });
    expect(await listAll(again, owner)).toEqual(blobs);
    expect(await verified(again)).toMatchObject({ ok: true });
    await again.stop();
  }
  const early = await runCairn(['restore', '--at', '2001-01-01T00:00:00Z', backups], { CAIRN_DATA: temporaryFolder() });
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('has no backup from 2001-01-01')]);
  const broken = join(temporaryFolder(), 'copy');
  cpSync(backups, broken, { recursive: true });
  rmSync(join(broken, 'second'), { recursive: true });
  const into = temporaryFolder();
  const missing = await runCairn(['restore', join(broken, 'third')], { CAIRN_DATA: into });
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^cairn: third is based on the backup .*second, which is missing or damaged; put that backup into the same folder\.\n$/,
    ),
  ]);
  expect(existsSync(join(into, 'cairn.mdb'))).toBe(false);
}, 180_000);

test('[OPS-11] restore --at takes the folder of one backup too, and says what to name when a manifest is damaged', async () => {
  const hub = await startHub();
  const backups = temporaryFolder();
  const times: string[] = [];
  for (const name of ['first', 'second']) {
    const made = await hub.cli('backup', join(backups, name), '--json', '--with-key');
    times.push(String(JSON.parse(made.stdout).made_at));
  }
  await hub.stop();
  const [madeFirst = '', madeSecond = ''] = times;
  const restore = (...args: string[]) => runCairn(['restore', ...args], { CAIRN_DATA: temporaryFolder() });
  // One of them by its own name, as somebody may who sees only that folder.
  const one = await restore('--at', 'now', join(backups, 'second'), '--json');
  expect([one.code, one.stderr, JSON.parse(one.stdout).made_at]).toEqual([0, '', madeSecond]);
  const told = await restore(join(backups, 'first'));
  expect(told).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('what was revoked or changed since is valid again'),
  });
  const before = await restore('--at', madeFirst, join(backups, 'second'));
  expect(before).toMatchObject({ code: 1, stdout: '' });
  expect(before.stderr).toMatch(
    /second is a backup of \S+Z, which is after \S+Z; name an earlier one, or the folder that/,
  );
  writeFileSync(join(backups, 'second', 'manifest.json'), '{');
  const unread = await restore('--at', 'now', backups);
  expect(unread).toMatchObject({ code: 1, stdout: '' });
  expect(unread.stderr).toMatch(/second is damaged, .* To restore another backup, name its folder, without --at\.\n$/);
}, 120_000);

test.runIf(canSetClocks)(
  '[OPS-11, OPS-12] restore --at does not take a backup that a wrong clock dated after now for the newest',
  { timeout: 120_000 },
  async () => {
    const hub = await startHub();
    const backups = temporaryFolder();
    const clock = new ProcessClock();
    clock.set(86_400);
    const backup = async (name: string, env: Record<string, string>) => {
      const given = { CAIRN_DATA: hub.dataFolder, ...env };
      const made = await runCairn(['backup', join(backups, name), '--json', '--with-key'], given);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      return String(JSON.parse(made.stdout).made_at);
    };
    await backup('ahead', clock.environment);
    const madeAt = await backup('newest', {});
    await hub.stop();
    const restore = (...args: string[]) => runCairn(['restore', '--json', ...args], { CAIRN_DATA: temporaryFolder() });
    const refused = await restore('--at', 'now', backups);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/ahead is dated \S+Z, after now, .*--at/),
    ]);
    for (const args of [['--at', new Date().toISOString(), backups], [join(backups, 'newest')]]) {
      const done = await restore(...args);
      expect([done.code, done.stderr]).toEqual([0, '']);
      expect(JSON.parse(done.stdout).made_at).toBe(madeAt);
    }
  },
);

test('[OPS-11] --keep removes the oldest backups of this hub, with the chains that nothing needs, and nothing else', async () => {
  const [hub, other] = await Promise.all([startHub(), startHub()]);
  const backups = temporaryFolder();
  const at = (name: string) => join(backups, name);
  /** Makes a backup, and gives what the folder then has. */
  const backup = async (of: Hub, name: string, ...args: string[]) => {
    const made = await of.cli('backup', ...args, at(name));
    expect([name, made.code, made.stderr]).toEqual([name, 0, '']);
    return readdirSync(backups).sort();
  };
  mkdirSync(at('a-note'));
  writeFileSync(at('a-file'), 'of somebody else');
  const others = ['a-file', 'a-note', 'b-other'];
  await backup(other, 'b-other');
  await backup(hub, 'one');
  await backup(hub, 'two', '--since', at('one'));
  expect(await backup(hub, 'three', '--keep', '3')).toEqual([...others, 'one', 'three', 'two']);
  // Two is the oldest to keep, and based on one.
  expect(await backup(hub, 'four', '--keep', '3')).toEqual([...others, 'four', 'one', 'three', 'two']);
  expect(await backup(hub, 'five', '--keep', '2')).toEqual([...others, 'five', 'four']);
  for (const [keep, told] of [
    ['0', 'at least 1'],
    ['-1', '--keep'],
    ['all', 'must be a whole number'],
  ] as const) {
    const refused = await hub.cli('backup', `--keep=${keep}`, at('refused'));
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining(told)]);
  }
  // All are of today, so the day, the week and the month keep the same one.
  const rules = ['--keep-daily', '7', '--keep-weekly', '5', '--keep-monthly', '12'];
  expect(await backup(hub, 'six', ...rules)).toEqual([...others, 'six']);
  const both = await hub.cli('backup', '--keep', '1', '--keep-last', '1', at('seven'));
  expect([both.code, both.stderr]).toEqual([1, expect.stringContaining('are the same')]);
  // A backup that could not be made removes nothing.
  expect((await hub.cli('backup', '--keep', '1', at('six'))).code).toBe(1);
  expect(readdirSync(backups).sort()).toEqual([...others, 'six']);
  await Promise.all([hub.stop(), other.stop()]);
  expect((await runCairn(['restore', at('six')], { CAIRN_DATA: temporaryFolder() })).stderr).toContain('master.key');
}, 180_000);
