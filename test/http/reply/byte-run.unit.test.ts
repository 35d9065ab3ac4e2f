/** Runs of bytes: whatever the cuts, what is sent is what was given. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ByteRun, itemsOf, runOf, sourceOf } from '../../../src/http/reply/byte-run.ts';
import { seed } from '../../support/seed.ts';

test(`[RPC-5] runs of bytes, however cut, come out whole and as items (seed ${seed})`, () => {
  const record = fc.record({ type: fc.constant('doc'), text: fc.string({ unit: 'binary' }) });
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
  const takes = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 9 }), cuts, takes, (records, cut, take) => {
      const lines = cutRun(records.map((one) => `${JSON.stringify(one)}\n`).join(''), cut);
      const source = sourceOf([runOf('['), itemsOf(lines), runOf(']'), lines]);
      let sent = Buffer.alloc(0);
      // What a socket does not take is asked for again.
      for (let turn = 0; sent.length < source.bytesTotal; turn += 1) {
        const bytes = source.read(sent.length);
        expect(bytes.length).toBeGreaterThan(0);
        sent = Buffer.concat([sent, bytes.subarray(0, Math.max(turn % 3, take[turn % take.length] ?? 1))]);
      }
      expect(source.read(sent.length)).toHaveLength(0);
      const split = sent.length - lines.bytes;
      expect(JSON.parse(sent.subarray(0, split).toString())).toEqual(records);
      expect(sent.subarray(split).toString()).toBe(records.map((one) => `${JSON.stringify(one)}\n`).join(''));
    }),
    { seed },
  );
});

/** Text as a run that is read in parts of these sizes, in turn. */
function cutRun(text: string, sizes: readonly number[]): ByteRun {
  const bytes = Buffer.from(text);
  return {
    bytes: bytes.length,
    open() {
      let [offset, turn] = [0, 0];
      return () => {
        if (offset === bytes.length) return undefined;
        const size = sizes[turn % sizes.length] ?? 1;
        turn += 1;
        const part = bytes.subarray(offset, offset + size);
        offset += part.length;
        return part;
      };
    },
  };
}

test('[RPC-5] a run that is shorter or longer than it said is no whole body', () => {
  for (const bytes of [2, 4]) {
    const source = sourceOf([{ ...runOf('abc'), bytes }]);
    expect(() => source.read(0) && source.read(bytes)).toThrow(/a run of/);
  }
});
