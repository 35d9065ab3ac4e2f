/** cairn rekey, killed at any moment. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, runCairn } from '../support/hub.ts';
import { expectServes, hex, keyIn, stoppedHub } from './sealed.ts';

test('[OPS-11] killed at any moment, rekey leaves a data file and a key that fit', async () => {
  const { folder, kept } = await stoppedHub();
  const keys = new Set([keyIn(folder)]);
  for (let round = 0; round < 8; round += 1) {
    const child = spawn(process.execPath, [CAIRN, 'rekey'], {
      env: cleanEnvironment({ CAIRN_DATA: folder }),
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(300, 1000));
    await ended;
    clearTimeout(timer);
    // A reader settles nothing, and finds the right key all the same.
    expect((await runCairn(['verify'], { CAIRN_DATA: folder })).code).toBe(0);
    keys.add(keyIn(folder));
  }
  await expectServes(folder, kept);
  // Both places of a cut: the next key is there and the data has the old one, and the other way round.
  const current = keyIn(folder);
  writeFileSync(join(folder, 'master.key.next'), hex());
  await expectServes(folder, kept);
  expect([keyIn(folder), existsSync(join(folder, 'master.key.next'))]).toEqual([current, false]);
  writeFileSync(join(folder, 'master.key.next'), current);
  writeFileSync(join(folder, 'master.key'), hex());
  expect((await runCairn(['verify'], { CAIRN_DATA: folder })).code).toBe(0);
  await expectServes(folder, kept);
  expect([keyIn(folder), existsSync(join(folder, 'master.key.next'))]).toEqual([current, false]);
}, 180_000);
