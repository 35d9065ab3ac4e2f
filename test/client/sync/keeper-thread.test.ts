/** The thread that keeps saves, as it is built: what becomes of it where it fails. */
import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { Keeper } from '../../../src/client/sync/watch/keeper.ts';
import type * as Start from '../../../src/client/sync/watch/start-keeper.ts';
import { limits } from '../../../src/limits/service.ts';
import { CAIRN } from '../../support/hub.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const BUILT = new URL('../client/sync/watch/start-keeper.js', pathToFileURL(CAIRN)).href;

test('[SYN-25] where the thread that keeps saves fails, the watch says so and goes on, and another one keeps them later', async () => {
  const { startKeeper } = (await import(BUILT)) as typeof Start;
  const root = join(temporaryFolder(), 'synced');
  mkdirSync(root);
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = new StateStore(folder, newState('http://127.0.0.1:1', 'v_0000000000000000'));
  const told: string[] = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  // It is away in the moment in which the thread begins, as on a disk that is plugged in again.
  renameSync(root, `${root}-away`);
  const keeper = new Keeper(
    { folder, state },
    { isRestless: () => false, onLost: (sentence) => told.push(sentence), onReady: () => undefined },
    startKeeper,
  );
  onTestFinished(() => keeper.close());
  const turns = async (isThere: () => boolean) => {
    while (!isThere()) await new Promise((resolve) => setImmediate(resolve));
  };
  await turns(() => told.length > 0);
  expect(told).toEqual([
    expect.stringMatching(/^Saves in quick succession are not kept now \(ENOENT.*\)\. Trying again in 60 s\.$/),
  ]);
  // What a watch reports meanwhile is for nobody.
  keeper.changed(join(root, 'x'));
  renameSync(`${root}-away`, root);
  writeFileSync(join(root, 'x'), 'saved\n');
  vi.advanceTimersByTime(limits.clientRetryMsMax);
  vi.useRealTimers();
  keeper.changed(join(root, 'x'));
  await vi.waitFor(() => expect(folder.saves.list().map(({ path }) => path)).toEqual(['x']), { timeout: 60_000 });
  expect(told).toHaveLength(1);
  // Its end is waited for.
  await keeper.close();
  rmSync(root, { recursive: true });
}, 120_000);

/** Prints how many bytes the heap has for new objects before and after a program made many that stay. */
const HOLDER = `
import { getHeapSpaceStatistics } from 'node:v8';
const { collectEarly } = await import(process.argv[2]);
const { startKeeper } = await import(process.argv[3]);
const newBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
collectEarly();
await new Promise((message, failed) => startKeeper(JSON.parse(process.argv[4]), { message, failed }));
const before = newBytes();
const held = Array.from({ length: 500_000 }, (_, at) => ({ name: 'file ' + at }));
process.stdout.write(JSON.stringify([before, newBytes(), held.length]));
process.exit();
`;

test('[SYN-25] beside the thread that keeps saves, the heap of a watch does not get more room for new objects', async () => {
  const root = temporaryFolder();
  const early = new URL('../client/sync/watch/collect-early.js', pathToFileURL(CAIRN)).href;
  const program = join(temporaryFolder(), 'holder.mjs');
  writeFileSync(program, HOLDER);
  const args = [program, early, BUILT, JSON.stringify({ root, only: [] })];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [before, after, held] = JSON.parse(stdout) as number[];
  expect(held).toBe(500_000);
  // The second half is used from the first collection on.
  expect(after).toBeLessThanOrEqual(2 * (before as number));
}, 120_000);
