/** Copies of saved files, while another process of the same folder lists them. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Saves } from '../../../src/client/sync/folder/saves.ts';

const COPIES = 40;
const MODULE = new URL('../../../dist/src/client/sync/folder/saves.js', import.meta.url).href;
const KEEPS = `
  const { Saves } = await import(${JSON.stringify(MODULE)});
  const saves = new Saves(process.argv[1]);
  const bytes = Buffer.alloc(1024 * 1024, 'x');
  const { createHash } = await import('node:crypto');
  for (let at = 0; at < ${COPIES}; at += 1) {
    bytes.writeUInt32LE(at);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    saves.keep('name', { bytes, sha256, executable: false, modifiedMs: 0 }, '');
  }
`;

test('[SYN-25] a copy that a watch is writing stays when another process lists the copies in that moment', async () => {
  const own = mkdtempSync(join(tmpdir(), 'cairn-saves-'));
  onTestFinished(() => rmSync(own, { recursive: true }));
  const watch = spawn(process.execPath, ['--input-type=module', '--eval', KEEPS, own], { stdio: 'inherit' });
  let code: number | null | undefined;
  watch.once('exit', (ended) => {
    code = ended;
  });
  const other = new Saves(own);
  while (code === undefined) {
    for (const save of other.list()) expect(save.read()?.sha256).toBe(save.sha256);
    await setImmediate();
  }
  expect(code).toBe(0);
  expect(new Saves(own).list()).toHaveLength(COPIES);
});
