/** The networks that addresses are counted in, and what each of them may hold. */
import { expect, test } from 'vitest';
import { addressBlock, networksOf, widestNetwork } from '../../src/common/networks.ts';
import { Shares } from '../../src/common/shares.ts';

test.each([
  ['192.0.2.1', ['192.0.2.1']],
  ['2001:db8:a:bcde:1:2:3:4', ['2001:db8:a:bcde::/64', '2001:db8:a:bc00::/56', '2001:db8:a::/48']],
  ['2001:DB8:000A:BCDE::1', ['2001:db8:a:bcde::/64', '2001:db8:a:bc00::/56', '2001:db8:a::/48']],
  ['fe80::1%eth0', ['fe80:0:0:0::/64', 'fe80:0:0:0::/56', 'fe80:0:0::/48']],
  ['::1', ['0:0:0:0::/64', '0:0:0:0::/56', '0:0:0::/48']],
  ['2001:db8:a:bcff::/64', ['2001:db8:a:bcff::/64', '2001:db8:a:bc00::/56', '2001:db8:a::/48']],
  ['::ffff:192.0.2.1', ['::ffff:192.0.2.1']],
  ['key_0123', ['key_0123']],
  ['a:b', ['a:b']],
  ['', ['']],
])('[LIM-4] %s is counted in %j', (address, names) => {
  expect(networksOf(address).map(({ name }) => name)).toEqual(names);
  expect([addressBlock(address), widestNetwork(address)]).toEqual([names[0], names.at(-1)]);
});

test('[LIM-4] a wider network has a larger share, and a narrower one is counted in it', () => {
  expect(networksOf('2001:db8::1').map(({ share }) => share)).toEqual([1, 2, 4]);
  expect(networksOf('192.0.2.1')).toEqual([{ name: '192.0.2.1', share: 1 }]);
  const wide = new Set(networksOf('2001:db8:a:bcff::/64').map(({ name }) => name));
  expect(networksOf('2001:db8:a:bcde::1').filter(({ name }) => wide.has(name)).length).toBe(2);
});

test('[LIM-4, NET-11] of what is kept for little callers, the networks of one site get no more than their shares', () => {
  const shares = new Shares({ max: 160, what: 'full', retryAfterSeconds: 1 });
  const take = (address: string, amount: number) => shares.take({ address }, amount);
  take('192.0.2.1', 120);
  // A sixteenth for each /64, two for its /56, four for its /48: the last eighth is all that is left of them.
  const outcome = (address: string) => {
    try {
      take(address, 10);
      return 'taken';
    } catch {
      return 'refused';
    }
  };
  const site = ['2001:db8:a:0::', '2001:db8:a:1::', '2001:db8:a:2::', '2001:db8:a:100::'];
  expect(site.map((network) => outcome(`${network}1`))).toEqual(['taken', 'taken', 'refused', 'taken']);
  expect(outcome('198.51.100.1')).toBe('taken');
});
