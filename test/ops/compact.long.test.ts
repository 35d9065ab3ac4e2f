/** cairn compact, killed at any moment. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, runCairn } from '../support/hub.ts';
import { withHub } from '../support/use-hub.ts';
import { expectKept, fill, sparseFolder } from './sparse.ts';

test('[OPS-11] killed at any moment, compact leaves the old file or the new one', async () => {
  const { folder, kept } = await sparseFolder();
  for (let round = 0; round < 8; round += 1) {
    const child = spawn(process.execPath, [CAIRN, 'compact'], {
      env: cleanEnvironment({ CAIRN_DATA: folder }),
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(300, 1200));
    await ended;
    clearTimeout(timer);
    expect((await runCairn(['verify'], { CAIRN_DATA: folder })).code).toBe(0);
    if (round === 4) await fill(folder);
  }
  await withHub({ dataFolder: folder }, (hub) => expectKept(hub, kept));
  expect(readdirSync(folder).filter((name) => name.startsWith('compact'))).toEqual([]);
}, 120_000);
