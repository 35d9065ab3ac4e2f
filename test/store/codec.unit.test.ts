/** How rows are encoded: what a build before wrote is read, and what this one writes an older one reads. */
import { expect, test } from 'vitest';
import { emptyRecordCodec, recordCodec } from '../../src/store/codec.ts';

test('[OPS-9] a row whose key says all has the bytes that records without members have', () => {
  const [empty, record] = [emptyRecordCodec(1), recordCodec<Record<string, never>>(1)];
  expect(empty.encode({})).toEqual(record.encode({}));
  expect(record.decode(empty.encode({}))).toEqual({});
  expect(empty.decode(record.encode({}))).toEqual({});
  expect(() => empty.decode(recordCodec(2).encode({}))).toThrow('version');
});
