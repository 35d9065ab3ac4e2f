/** The kernel's tables of connections, as counts by address. */
import { expect, test } from 'vitest';
import { connectionsByNetwork, Peers } from '../../../src/http/checks/peers.ts';
import { connectionOf } from '../../support/connection.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const line = (at: number, local: string, remote: string, state = '01') =>
  `   ${at}: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 28435 1 0000000000000000 20 4 30 10 -1`;

test('[NET-11] open connections to the port are counted by address, IPv6 by its networks', () => {
  const four = [
    HEAD,
    line(0, '00000000:1F90', '00000000:0000', '0A'),
    line(1, '0100007F:1F90', '0200A8C0:C350'),
    line(2, '0100007F:1F90', '0200A8C0:C351', '08'),
    line(3, '0100007F:1F90', '0200A8C0:C352', '06'),
    line(4, '0100007F:1F91', '0200A8C0:C353'),
    '',
  ].join('\n');
  const six = [
    HEAD,
    line(0, '00000000000000000000000001000000:1F90', '0000000000000000FFFF00000200A8C0:C354'),
    line(1, '00000000000000000000000001000000:1F90', 'B80D0120010000000000000001000000:C355'),
    line(2, '00000000000000000000000001000000:1F90', 'B80D0120010000000000000002000000:C356'),
    line(3, '00000000000000000000000001000000:1F90', 'B80D0120020000000000000001000000:C357'),
  ].join('\n');
  expect(Object.fromEntries(connectionsByNetwork([four, six], 8080))).toEqual({
    '192.168.0.2': 3,
    '2001:db8:0:1::/64': 2,
    '2001:db8:0:2::/64': 1,
    '2001:db8:0:0::/56': 3,
    '2001:db8:0::/48': 3,
  });
  expect(connectionsByNetwork(['', HEAD, 'no table'], 8080).size).toBe(0);
});

async function peers(...tables: string[]): Promise<Peers> {
  const made = new Peers({
    port: () => 8080,
    littleMax: 3,
    isProxy: () => false,
    readTables: async () => tables,
  });
  made.isWelcome(connectionOf('203.0.113.9'));
  await new Promise((resolve) => setImmediate(resolve));
  return made;
}

test('[NET-11] what the kernel tells of an address counts, and what came since', async () => {
  const one = await peers([HEAD, line(1, '0100007F:1F90', '0200A8C0:C350')].join('\n'), '');
  const welcome = (address: string) => Array.from({ length: 4 }, () => one.isWelcome(connectionOf(address)));
  expect(welcome('192.168.0.2')).toEqual([true, true, false, false]);
  expect(welcome('192.168.0.3')).toEqual([true, true, true, false]);
});

test('[NET-11] connections that come while the kernel is asked are not forgotten', async () => {
  let answer: (tables: readonly string[]) => void = () => undefined;
  const readTables = () => new Promise<readonly string[]>((resolve) => (answer = resolve));
  const one = new Peers({ port: () => 8080, littleMax: 3, isProxy: () => false, readTables });
  const welcome = () => one.isWelcome(connectionOf('192.168.0.2'));
  // The first one asks the kernel, the others come before it answers.
  expect([welcome(), welcome(), welcome()]).toEqual([true, true, true]);
  answer([HEAD]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(welcome()).toBe(false);
});

test('[NET-11] where the system does not tell who holds connections, everybody is welcome', async () => {
  const none = await peers('', '');
  expect(Array.from({ length: 9 }, () => none.isWelcome(connectionOf('192.168.0.2')))).toEqual(Array(9).fill(true));
});
