/** `cairn follow` on a bad day: its disk is full for a while, or the clock jumps. Each moment that it printed can be restored. */
import { spawn } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { callTool, structured } from '../support/gateway.ts';
import { CAIRN, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { canSetClocks, ProcessClock } from '../support/members.ts';
import { account } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { canUnshare } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PAGE = 4096;
const HOUR_MS = 3_600_000;
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

/** A hub with an account, and what adds a task to it. */
async function begin(): Promise<{ hub: Hub; key: string; add: (name: string) => Promise<void> }> {
  const hub = await startHub();
  ends.push(() => hub.kill());
  const key = (await account(hub)).mcp_key;
  const add = async (name: string) => {
    expect((await callTool(hub, 'create_task', { content: name }, key)).error).toBeUndefined();
  };
  return { hub, key, add };
}

/** Follows a hub into `folder`, and keeps what it says. */
function follow(hub: Hub, folder: string, env: Record<string, string> = {}, wrapper: readonly string[] = []) {
  const args = [...wrapper, process.execPath, CAIRN, 'follow', '--every', '0.05', '--with-key', '--json', folder];
  const child = spawn(args[0] ?? '', args.slice(1), {
    // The wrapper makes its disk where CAIRN_DATA is; the hub's own folder is named after that.
    env: cleanEnvironment({ CAIRN_DATA: hub.dataFolder, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  ends.push(() => child.kill('SIGKILL'));
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const steps = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { kind: string; madeAt: string });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { child, steps, errors: () => errors, exited };
}

/**
 * The first moment that a follower copied in the hour after a time. Writes to the hub until there is one: what was written before
 * that time may have been copied before it too.
 */
async function copiedAfter(hub: Hub, { steps }: Pick<ReturnType<typeof follow>, 'steps'>, atMs: number) {
  return await until('it is copied', async () => {
    await account(hub);
    return steps()
      .map(({ madeAt }) => madeAt)
      .find((madeAt) => Date.parse(madeAt) > atMs && Date.parse(madeAt) < atMs + HOUR_MS);
  });
}

/** Restores, and gives the names of the tasks that are there. */
async function tasksOf(key: string, ...args: string[]): Promise<string[]> {
  const folder = temporaryFolder();
  const done = await runCairn(['restore', '--json', ...args], { CAIRN_DATA: folder });
  expect([done.code, done.stderr]).toEqual([0, '']);
  const again = await startHub({ dataFolder: folder });
  try {
    const { tasks } = await structured<{ tasks: { content: string }[] }>(again, 'list_tasks', { limit: 100 }, key);
    return tasks.map(({ content }) => content).toSorted((a, b) => (a < b ? -1 : 1));
  } finally {
    await again.kill();
  }
}

/** Two new disks where $COPIES is: a large one, and in `small` one that holds some lines of a journal. */
const DISKS =
  'mount -t tmpfs -o size=64m tmpfs "$COPIES" && mkdir "$COPIES/small" && mount -t tmpfs -o size=24k tmpfs "$COPIES/small" && exec "$@"';

test.runIf(canUnshare)(
  '[OPS-11] cairn follow goes on after its disk was full, wherever an append was cut, and each moment can be restored',
  { timeout: 240_000 },
  async () => {
    const { hub, key, add } = await begin();
    const target = temporaryFolder();
    const follower = follow(hub, target, { COPIES: target }, ['unshare', '-rm', 'sh', '-c', DISKS, 'sh']);
    await until('a whole copy', () => follower.steps()[0]);
    const reached = `/proc/${follower.child.pid}/root${target}`;
    const names: string[] = [];
    const told = () => follower.errors().split('\n').length - 1;
    /** Adds tasks until an append fails, then makes room; it follows again. */
    const untilFull = async (filler: string) => {
      const before = told();
      for (let tried = 0; told() === before && tried < 20; tried += 1) {
        const copied = follower.steps().length;
        const name = `task ${String(names.length).padStart(3, '0')}`;
        await add(name);
        names.push(name);
        await until('it is copied, or told', () =>
          told() > before || follower.steps().length > copied ? true : undefined,
        );
      }
      expect(follower.errors()).toMatch(/could not be written to .* Trying again every 0\.05 s\.\n$/);
      rmSync(filler);
      await until('it follows again', () => (follower.errors().endsWith('following again.\n') ? true : undefined));
    };
    // The disk of the blocks.
    writeFileSync(join(reached, 'filler'), Buffer.alloc(statfsSync(reached).bavail * PAGE - 8 * PAGE));
    await untilFull(join(reached, 'filler'));
    // That of the lines: one is cut wherever the disk ends.
    const [backup = ''] = readdirSync(reached).filter((name) => name.startsWith('20'));
    const journal = join(reached, backup, 'journal.ndjson');
    const small = join(reached, 'small', 'lines');
    copyFileSync(journal, small);
    rmSync(journal);
    symlinkSync('../small/lines', journal);
    writeFileSync(`${small}.filler`, Buffer.alloc(2 * PAGE));
    await untilFull(`${small}.filler`);
    follower.child.kill('SIGSTOP');
    expect(await tasksOf(key, '--at', 'now', reached)).toEqual(names);
    follower.child.kill('SIGCONT');
  },
);

test.runIf(canSetClocks)(
  '[OPS-11, OPS-12] a clock that jumped ahead while it followed keeps no moment from being restored',
  { timeout: 120_000 },
  async () => {
    const { hub, key, add } = await begin();
    const folder = temporaryFolder();
    const clock = new ProcessClock();
    const follower = follow(hub, folder, clock.environment);
    await until('a whole copy', () => follower.steps()[0]);
    /** Adds a task while the clock is so many seconds ahead; the time of the first moment that has it. */
    const copied = async (name: string, ahead: number) => {
      clock.set(ahead);
      await add(name);
      return await copiedAfter(hub, follower, Date.now() + ahead * 1000);
    };
    const first = await copied('one', 0);
    const wrong = await copied('two', 7200);
    const last = await copied('three', 0);
    expect(Date.parse(wrong) - Date.parse(last)).toBeGreaterThan(3_600_000);
    follower.child.kill('SIGTERM');
    await follower.exited;
    expect(await tasksOf(key, '--at', first, folder)).toEqual(['one']);
    expect(await tasksOf(key, '--at', last, folder)).toEqual(['one', 'three', 'two']);
  },
);

test('[OPS-11] each moment before a damaged line of a journal can be restored, none after it is taken for another, and following goes on', {
  timeout: 120_000,
}, async () => {
  const { hub, key, add } = await begin();
  const folder = temporaryFolder();
  const follower = follow(hub, folder);
  await until('a whole copy', () => follower.steps()[0]);
  const copied = async (name: string) => {
    await add(name);
    return await copiedAfter(hub, follower, Date.now());
  };
  const [one, two, three] = [await copied('one'), await copied('two'), await copied('three')];
  follower.child.kill('SIGKILL');
  await follower.exited;
  const [backup = ''] = readdirSync(folder).filter((name) => name.startsWith('20'));
  const journal = join(folder, backup, 'journal.ndjson');
  // As version 1.0.0 left it after its disk was full: half of the line of `two`, and the next line after it.
  const lines = readFileSync(journal, 'utf8').split(/(?<=\n)/);
  const damaged = lines.findIndex((line) => line.includes(two));
  const before = JSON.parse(lines[damaged - 1] ?? '').made_at as string;
  writeFileSync(journal, lines.map((line, index) => (index === damaged ? line.slice(0, 90) : line)).join(''));
  for (const args of [
    ['--at', 'now', folder],
    ['--at', two, folder],
    ['--at', three, folder],
    [join(folder, backup)],
  ]) {
    const refused = await runCairn(['restore', '--json', ...args], { CAIRN_DATA: temporaryFolder() });
    expect([args, refused.code, refused.stderr]).toEqual([
      args,
      1,
      expect.stringContaining(
        `line ${damaged + 1} of journal.ndjson in ${backup} is damaged; restore ${before} or a time before it (--at)`,
      ),
    ]);
  }
  expect(await tasksOf(key, '--at', one, folder)).toEqual(['one']);
  expect(await tasksOf(key, '--at', before, folder)).toEqual(['one']);
  const again = follow(hub, folder);
  expect((await until('it follows again', () => again.steps()[0])).kind).toBe('whole');
  again.child.kill('SIGTERM');
  await again.exited;
  expect(again.errors()).toBe('');
  expect(await tasksOf(key, '--at', 'now', folder)).toEqual(['one', 'three', 'two']);
  expect(await tasksOf(key, '--at', one, folder)).toEqual(['one']);
});

test('[OPS-11] a follower whose terminal is closed ends as one that is stopped, and goes on when started again', async () => {
  const { hub, key, add } = await begin();
  const folder = temporaryFolder();
  const first = follow(hub, folder);
  await until('a whole copy', () => first.steps()[0]);
  first.child.kill('SIGHUP');
  await first.exited;
  expect([first.child.exitCode, first.errors()]).toEqual([0, '']);
  await add('after');
  const again = follow(hub, folder);
  await until('the next copy', () => again.steps()[0]);
  again.child.kill('SIGTERM');
  await again.exited;
  expect(await tasksOf(key, '--at', 'now', folder)).toEqual(['after']);
});

test.runIf(canSetClocks)(
  '[OPS-11, OPS-12] a whole copy that was begun under a clock days behind, or ahead, keeps its place among the others',
  { timeout: 120_000 },
  async () => {
    for (const wrong of [-10 * 86_400, 10 * 86_400]) {
      const { hub, key, add } = await begin();
      const folder = temporaryFolder();
      const first = follow(hub, folder);
      await until('a whole copy', () => first.steps()[0]);
      await add('one');
      await copiedAfter(hub, first, Date.now());
      first.child.kill('SIGTERM');
      await first.exited;
      await hub.stop();
      expect((await runCairn(['compact'], { CAIRN_DATA: hub.dataFolder })).code).toBe(0);
      const again = await startHub({ dataFolder: hub.dataFolder });
      ends.push(() => again.kill());
      const clock = new ProcessClock();
      clock.set(wrong);
      const follower = follow(again, folder, clock.environment);
      await until('another whole copy', () => follower.steps()[0]);
      clock.set(0);
      expect((await callTool(again, 'create_task', { content: 'two' }, key)).error).toBeUndefined();
      const last = await copiedAfter(again, follower, Date.now());
      follower.child.kill('SIGTERM');
      await follower.exited;
      for (const at of [last, 'now'])
        expect([wrong, at, await tasksOf(key, '--at', at, folder)]).toEqual([wrong, at, ['one', 'two']]);
    }
  },
);
