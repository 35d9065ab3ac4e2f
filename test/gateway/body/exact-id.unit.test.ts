/** Ids that a JSON parser would change are read from the text as they were written. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { numericIds } from '../../../src/gateway/exact-id.ts';
import { seed } from '../../support/seed.ts';

const textsOf = (text: string) => numericIds(text);

test.each([
  ['{"id":12345678901234567890}', ['12345678901234567890']],
  ['{"method":"x","id" : -98765432109876543210 ,"params":{}}', ['-98765432109876543210']],
  ['{"id":1,"id":12345678901234567890}', ['12345678901234567890']],
  ['{"\\u0069d":12345678901234567890}', ['12345678901234567890']],
  ['{"params":{"id":11111111111111111111},"id":22222222222222222222}', ['22222222222222222222']],
  ['{"x":"\\"id\\":1","id":12345678901234567890}', ['12345678901234567890']],
  ['{"x":"id","id":"text"}', []],
  [
    ' [{"id":11111111111111111111},{"id":"a"},{"id":33333333333333333333}]',
    ['11111111111111111111', undefined, '33333333333333333333'],
  ],
  ['[[{"id":11111111111111111111}],1,{"id":22222222222222222222}]', [undefined, undefined, '22222222222222222222']],
])('[RPC-2] %s', (text, expected) => {
  expect(textsOf(text)).toEqual(expected);
});

test('[RPC-2] in any JSON the id of the message is found, and no other', () => {
  const id = fc.bigInt({ min: 10n ** 16n, max: 10n ** 30n });
  const property = fc.property(
    fc.dictionary(fc.string(), fc.jsonValue()),
    id,
    fc.boolean(),
    (others, value, isLast) => {
      const members = Object.entries(others)
        .filter(([name]) => name !== 'id')
        .map(([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`);
      const own = `"id":${value}`;
      const text = `{${(isLast ? [...members, own] : [own, ...members]).join(',')}}`;
      expect(textsOf(text)).toEqual([String(value)]);
      expect(textsOf(`[1,${text}]`)).toEqual([undefined, String(value)]);
    },
  );
  fc.assert(property, { seed, numRuns: 300 });
});
