/** What a device does with a file, from what it has, what both last agreed on, and what the hub has. */
import { expect, test } from 'vitest';
import { type RemoteState, standingByHistory, standingOf, standingOfBit } from '../../../src/sync/devices/standing.ts';

const live = (sha256: string): RemoteState => ({ sha256, deleted: false });
const dead = (sha256: string): RemoteState => ({ sha256, deleted: true });

test.each<[local: string | undefined, base: string | undefined, remote: RemoteState | undefined, standing: string]>([
  [undefined, undefined, undefined, 'same'],
  [undefined, 'a', undefined, 'same'],
  [undefined, undefined, dead('a'), 'same'],
  [undefined, 'a', dead('a'), 'same'],
  [undefined, undefined, live('a'), 'pull'],
  [undefined, 'a', live('a'), 'push_delete'],
  [undefined, 'b', live('a'), 'conflict'],
  ['a', undefined, undefined, 'push'],
  ['a', 'a', undefined, 'push'],
  ['a', 'b', undefined, 'push'],
  ['a', undefined, dead('a'), 'by_history'],
  ['a', 'a', dead('a'), 'delete'],
  ['a', 'a', dead('b'), 'delete'],
  ['a', 'b', dead('a'), 'conflict'],
  ['a', undefined, live('a'), 'same'],
  ['a', 'a', live('a'), 'same'],
  ['a', 'b', live('a'), 'same'],
  ['a', undefined, live('b'), 'by_history'],
  ['a', 'b', live('b'), 'push'],
  ['a', 'a', live('b'), 'pull'],
  ['a', 'c', live('b'), 'conflict'],
])('[SYN-19] device %s, agreed %s, hub %o: %s', (local, base, remote, standing) => {
  expect(standingOf({ local, base }, remote)).toBe(standing);
});

test.each<[deleted: boolean, hubHadIt: boolean | undefined, standing: string]>([
  [false, true, 'pull'],
  [false, false, 'conflict'],
  [false, undefined, 'conflict'],
  [true, true, 'delete'],
  [true, false, 'push'],
  [true, undefined, 'conflict'],
])('[SYN-19] without a base, deleted on the hub %s, the hub had these bytes %s: %s', (deleted, hubHadIt, standing) => {
  expect(standingByHistory({ sha256: 'b', deleted }, hubHadIt)).toBe(standing);
});

test.each<[boolean | undefined, string]>([
  [true, 'pull'],
  [false, 'push'],
  [undefined, 'pull'],
])('[SYN-19] the same bytes with another bit, which the hub had %s: %s', (hubHadIt, standing) => {
  expect(standingOfBit(hubHadIt)).toBe(standing);
});
