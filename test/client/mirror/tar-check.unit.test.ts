/** What is not unpacked: each kind of entry that could reach beyond its folder. */
import { expect, test } from 'vitest';
import { checkTar } from '../../../src/client/mirror/tar-check.ts';

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

test('[CLI-3] files, folders and links that stay inside are unpacked', () => {
  checkTar(
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
])('[CLI-3] %s is not unpacked', (_, bytes) => {
  expect(() => checkTar(tar(bytes))).toThrow(/not unpacked/);
});

test('[CLI-3] what is not a tar is not unpacked', () => {
  expect(() => checkTar(Buffer.alloc(2048, 'x'))).toThrow(/not a tar/);
});
