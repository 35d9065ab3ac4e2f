/** A change as a hub reports it: which fields are read, and that one of another type is no change. */
import { expect, test } from 'vitest';
import { readRemoteRecord } from '../../../src/client/sync/remote-record.ts';

const FILE = {
  type: 'file',
  path: 'notes/a.md',
  sha256: 'ab',
  content: 'text\n',
  stored_at: '2026-11-20T20:18:57.123Z',
  seq: 7,
  device_id: 'laptop',
  remote_mtime: '2026-11-20T20:18:56.000Z',
  executable: true,
  size_bytes: 5,
};

test('[SYN-24] a change is read with all that it tells, and fields that are not known are left', () => {
  expect(readRemoteRecord({ ...FILE, later: [1] })).toEqual({
    path: 'notes/a.md',
    storedMs: Date.parse(FILE.stored_at),
    deviceId: 'laptop',
    seq: 7,
    from: undefined,
    side: {
      sha256: 'ab',
      bytes: Buffer.from('text\n'),
      chunks: undefined,
      size: 5,
      executable: true,
      modifiedMs: Date.parse(FILE.remote_mtime),
    },
  });
  const { path, type: _, sha256: __, content: ___, ...deleted } = FILE;
  expect(readRemoteRecord({ ...deleted, path, type: 'deleted', remote_mtime: null }).side).toBeUndefined();
  expect(readRemoteRecord({ ...FILE, content: 'dGV4dAo=', encoding: 'base64' }).side?.bytes?.toString()).toBe('text\n');
});

test.each([
  ['type', 'folder'],
  ['type', undefined],
  ['path', 7],
  ['path', undefined],
  ['sha256', 7],
  ['sha256', undefined],
  ['content', null],
  ['encoding', 'utf-16'],
  ['stored_at', 'soon'],
  ['stored_at', 2026],
  ['stored_at', undefined],
  ['seq', '7'],
  ['device_id', {}],
  ['remote_mtime', 7],
  ['executable', 'true'],
  ['size_bytes', '5'],
  ['renamed_from', []],
] as const)('[SYN-24] a change whose %s is %j is not read', (name, value) => {
  expect(() => readRemoteRecord({ ...FILE, [name]: value })).toThrow(/update/);
});
