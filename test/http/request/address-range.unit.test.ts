/** Ranges of addresses, in numbers: the same answers as Node's BlockList. */
import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressWords, isWithin, rangeOf } from '../../../src/http/request/address-range.ts';
import { seed } from '../../support/seed.ts';

test.each([
  ['10.1.2.3', [0, 0, 0, 0, 0, 0xffff, 0x0a01, 0x0203]],
  ['::ffff:10.1.2.3', [0, 0, 0, 0, 0, 0xffff, 0x0a01, 0x0203]],
  ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
  ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
  ['2001:db8::', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]],
  ['2001:db8:0:ff00::1:2', [0x2001, 0xdb8, 0, 0xff00, 0, 0, 1, 2]],
  ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['fe80::1%eth0', [0xfe80, 0, 0, 0, 0, 0, 0, 1]],
  ['', undefined],
  ['host', undefined],
  ['300.1.1.1', undefined],
  ['1:2:3', undefined],
])('[NET-10] %s is the words %j', (address, words) => {
  expect(addressWords(address)).toEqual(words);
});

test.each([
  ['10.255.0.1', '10.0.0.0', 8, true],
  ['11.0.0.1', '10.0.0.0', 8, false],
  ['10.1.2.3', '10.1.2.2', 31, true],
  ['10.1.2.4', '10.1.2.2', 31, false],
  ['203.0.113.9', '0.0.0.0', 0, true],
  ['::ffff:10.0.0.1', '10.0.0.0', 8, true],
  ['::1', '0.0.0.0', 0, false],
  ['2001:db8:7fff::1', '2001:db8::', 33, true],
  ['2001:db8:8000::1', '2001:db8::', 33, false],
  ['10.0.0.1', '::', 0, true],
])('[NET-10] %s is in %s/%i: %s', (address, network, prefix, expected) => {
  const [words, range] = [addressWords(address), rangeOf(network, prefix)];
  expect(words && range && isWithin(words, range)).toBe(expected);
});

test('[NET-10] every address and range is compared as by BlockList', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((text) => `::ffff:${text}`),
  );
  const family = (text: string) => (isIP(text) === 6 ? 'ipv6' : 'ipv4');
  fc.assert(
    fc.property(
      address,
      address,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (one, other, share, isNear) => {
        const network = isNear ? one : other;
        const prefix = Math.round(share * (isIP(network) === 6 ? 128 : 32));
        const list = new BlockList();
        list.addSubnet(network, prefix, family(network));
        const [words, range] = [addressWords(one), rangeOf(network, prefix)];
        expect(words && range && isWithin(words, range)).toBe(list.check(one, family(one)));
      },
    ),
    { seed, numRuns: 2000 },
  );
});
