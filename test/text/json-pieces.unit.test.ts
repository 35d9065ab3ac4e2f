/** Cutting JSON and assembling it again is the same as parsing it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assembled, cutJson, type PieceSize } from '../../src/text/json-pieces.ts';
import { runs, seed } from '../support/seed.ts';

async function parsed(text: string, size: PieceSize): Promise<{ readonly value: unknown; readonly pieces: number }> {
  const bytes = Buffer.from(text);
  const cut = cutJson(bytes, size);
  if (cut === undefined) return { value: JSON.parse(text), pieces: 1 };
  let pieces = 0;
  const value = await assembled(cut, bytes, () => {
    pieces += 1;
    return pieces % 2 === 0 ? Promise.resolve() : undefined;
  });
  return { value, pieces };
}

const TINY = { values: 2, bytes: 1000 };

test.each([
  ['[]', 1],
  ['{}', 1],
  ['[[],[],[],{}]', 4],
  ['[1,2,3,4,5]', 3],
  [' [ 1 , 2 , 3 , 4 ] ', 2],
  ['{"a":1,"b":2,"c":3}', 2],
  ['{"a":[1,2,3,4,5],"b":{}}', 5],
  ['{"b":0,"a":[1,2,3],"b":[1,2,3],"a":4}', 8],
  ['{"__proto__":[1,2,3],"a":{"__proto__":1,"b":2,"c":3}}', 6],
  ['[[[[[1,2,3]]]]]', 6],
  ['["\\",[{","\\\\",3,"\u{1f600}é"]', 2],
  ['[-0,1e400,1.5,12345678901234567890]', 2],
  ['"[1,2,3,4]"', 1],
  ['17', 1],
])('[NET-15] %s is parsed in pieces as if at once', async (text, pieces) => {
  const found = await parsed(text, TINY);
  expect(found.value).toStrictEqual(JSON.parse(text));
  expect(JSON.stringify(found.value)).toBe(JSON.stringify(JSON.parse(text)));
  expect(found.pieces).toBe(pieces);
});

test(`[NET-15] any document is parsed in pieces as if at once (seed ${seed})`, async () => {
  const size = fc.record({ values: fc.integer({ min: 1, max: 20 }), bytes: fc.integer({ min: 1, max: 200 }) });
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 6 }), fc.nat(2), size, async (json, indent, pieceSize) => {
      const text = JSON.stringify(JSON.parse(json), undefined, indent);
      const { value } = await parsed(text, pieceSize);
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    }),
    { seed, numRuns: runs(300) },
  );
});

test('[NET-15] no piece of many values has more than one and a half of its size', async () => {
  const text = JSON.stringify({ a: Array(3000).fill(1), b: Array(1000).fill({ c: [1], d: 'x' }) });
  const bytes = Buffer.from(text);
  const cut = cutJson(bytes, { values: 500, bytes: 65_536 });
  const { value, pieces } = await parsed(text, { values: 500, bytes: 65_536 });
  expect(value).toEqual(JSON.parse(text));
  expect(cut?.segments.length).toBe(2);
  expect(pieces).toBeGreaterThanOrEqual(7000 / 750);
});
