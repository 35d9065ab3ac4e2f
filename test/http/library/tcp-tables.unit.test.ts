import { describe, expect, test } from 'vitest';
import { listeningSockets } from '../../../src/http/library/tcp-tables.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (local: string, state: string, inode: number) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
const V6 = '00000000000000000000000001000000';

describe('[NET-17] the sockets that listen on a port', () => {
  test.each<[string, string[], string[]]>([
    ['none without tables', ['', ''], []],
    ['one of IPv4', [HEAD + row('0100007F:1F90', '0A', 4711)], ['socket:[4711]']],
    ['one of IPv6', ['', HEAD + row(`${V6}:1F90`, '0A', 12)], ['socket:[12]']],
    ['both', [row('0100007F:1F90', '0A', 1), row(`${V6}:1F90`, '0A', 2)], ['socket:[1]', 'socket:[2]']],
    ['not a connection', [row('0100007F:1F90', '01', 4711)], []],
    ['not another port', [row('0100007F:0F90', '0A', 4711) + row('0100007F:1F91', '0A', 4712)], []],
  ])('%s', (_name, tables, sockets) => {
    expect([...listeningSockets(tables, 8080)]).toEqual(sockets);
  });
});
