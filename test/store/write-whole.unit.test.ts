/** What is in a file when the system writes only a part of what each call gives it. */
import fs, { closeSync, openSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeWhole } from '../../src/store/data-file/write-whole.ts';
import { writeKeyFile } from '../../src/store/sealing/master-key.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const BYTES_A_CALL = 7;
const { writeSync } = fs;

// An almost full disk writes a part, and no disk of a test can be made to do so at a chosen byte.
beforeAll(() => {
  fs.writeSync = ((descriptor: number, bytes: Uint8Array, offset: number, length: number, position: number | null) =>
    writeSync(descriptor, bytes, offset, Math.min(BYTES_A_CALL, length), position)) as typeof writeSync;
  syncBuiltinESMExports();
});

afterAll(() => {
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
});

test('bytes that the system takes in parts are all in the file, in order and at their place', () => {
  const path = join(temporaryFolder(), 'file');
  const descriptor = openSync(path, 'w');
  expect(writeWhole(descriptor, Buffer.from('0123456789 0123456789 '))).toBe(22);
  expect(writeWhole(descriptor, Buffer.from('at the end'))).toBe(10);
  expect(writeWhole(descriptor, Buffer.from('ten to twenty'), 10)).toBe(13);
  closeSync(descriptor);
  expect(readFileSync(path, 'utf8')).toBe('0123456789ten to twentyt the end');
});

test('[MIR-5] a key file has all 64 characters of the key', () => {
  const folder = temporaryFolder();
  const key = Buffer.alloc(32, 0xab);
  writeKeyFile(folder, 'master.key', key);
  expect(readFileSync(join(folder, 'master.key'), 'utf8')).toBe(`${'ab'.repeat(32)}\n`);
});
