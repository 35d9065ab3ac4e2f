/** What is not unpacked: each kind of entry that could reach beyond its folder. */
import { expect, test } from 'vitest';
import { TarCheck } from '../../../src/client/mirror/tar/tar-check.ts';
import { readTar } from '../../../src/client/mirror/tar/tar-read.ts';

/** Reads a tar in parts of odd sizes, and checks every entry. */
async function checkTar(bytes: Buffer): Promise<void> {
  const check = new TarCheck();
  for await (const entry of readTar(parts(bytes))) check.accept(entry);
}

async function* parts(bytes: Buffer) {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 613)
    yield bytes.subarray(at, at + size);
}

/** One ustar entry. */
function entry(path: string, { type = '0', target = '', body = '' } = {}): Buffer {
  const head = Buffer.alloc(512);
  head.write(path, 0, 100);
  head.write('0000644\0', 100);
  head.write(`${Buffer.byteLength(body).toString(8).padStart(11, '0')}\0`, 124);
  head.write(type, 156);
  head.write(target, 157, 100);
  head.write('ustar\u000000', 257);
  const padded = Buffer.alloc(Math.ceil(Buffer.byteLength(body) / 512) * 512);
  padded.write(body);
  return Buffer.concat([head, padded]);
}

const tar = (...entries: readonly Buffer[]) => Buffer.concat([...entries, Buffer.alloc(1024)]);
const pax = (record: string) => {
  const length = record.length + 3 + String(record.length + 3).length - 1;
  return entry('pax', { type: 'x', body: `${length} ${record}\n` });
};

test('[CLI-3] files, folders and links that stay inside are unpacked', async () => {
  await checkTar(
    tar(
      entry('src/', { type: '5' }),
      entry('src/a.ts', { body: 'x'.repeat(700) }),
      entry('src/link', { type: '2', target: 'a.ts' }),
      entry('src/up', { type: '2', target: '../README.md' }),
      entry('.', { type: '5' }),
    ),
  );
});

test.each([
  ['an absolute path', entry('/etc/passwd')],
  ['a path upwards', entry('a/../../b')],
  ['a hard link', entry('a', { type: '1', target: 'b' })],
  ['a character device', entry('a', { type: '3' })],
  ['a block device', entry('a', { type: '4' })],
  ['a pipe', entry('a', { type: '6' })],
  ['a link to an absolute path', entry('a', { type: '2', target: '/etc' })],
  ['a link upwards', entry('a/b', { type: '2', target: '../../c' })],
  ['a link that goes down and up', entry('a', { type: '2', target: 'b/../..' })],
  ['a link that goes down and up and stays inside by its letters', entry('a', { type: '2', target: 'b/..' })],
  ['an entry below a link', Buffer.concat([entry('a', { type: '2', target: 'b' }), entry('a/c')])],
  ['a file in the place of a link', Buffer.concat([entry('a', { type: '2', target: 'b' }), entry('a')])],
  ['a pax path upwards', Buffer.concat([pax('path=../x'), entry('harmless')])],
  ['a pax link upwards', Buffer.concat([pax('linkpath=../x'), entry('a', { type: '2', target: 'b' })])],
  ['a GNU long name upwards', Buffer.concat([entry('long', { type: 'L', body: '../x\0' }), entry('harmless')])],
])('[CLI-3] %s is not unpacked', async (_, bytes) => {
  await expect(checkTar(tar(bytes))).rejects.toThrow(/not unpacked/);
});

test('[CLI-3] what is not a tar is not unpacked', async () => {
  await expect(checkTar(Buffer.alloc(2048, 'x'))).rejects.toThrow(/not a tar/);
});

test('[CLI-3] a tar that ends early is told', async () => {
  const whole = tar(entry('a', { body: 'x'.repeat(2000) }));
  for (const length of [100, 512, 1024, 1500]) {
    await expect(checkTar(whole.subarray(0, length))).rejects.toThrow(/cut short/);
  }
});
