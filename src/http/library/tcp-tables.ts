/** Reads the kernel's tables of TCP sockets (proc_net_tcp, Linux). */
import { readFile } from 'node:fs/promises';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTEN = '0A';

/** A socket at a local port. */
export interface TcpRow {
  /** Remote address and port, in hex. */
  readonly remote: string;
  /** In hex, e.g. `01` for an established connection. */
  readonly state: string;
  readonly inode: string;
}

/** The tables of IPv4 and IPv6; empty texts where the system has none. */
export function readTcpTables(): Promise<string[]> {
  return Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
}

/** The sockets whose local port this is. */
export function* rowsOfPort(tables: readonly string[], port: number): Generator<TcpRow> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of tables.flatMap((table) => table.split('\n'))) {
    // "  0: 0100007F:1F90 0200007F:C350 01 00000000:00000000 00:00000000 00000000  1000  0 4711 …": a number, local and
    // remote address, state; the tenth is the inode.
    const [, local, remote, state, , , , , , inode = ''] = line.trimStart().split(/ +/, 10);
    if (local?.endsWith(suffix) === true && remote !== undefined && state !== undefined) yield { remote, state, inode };
  }
}

/** The names of the sockets that listen on a port, as `/proc/self/fd` shows them. */
export function listeningSockets(tables: readonly string[], port: number): Set<string> {
  const rows = [...rowsOfPort(tables, port)].filter(({ state, inode }) => state === LISTEN && inode !== '');
  return new Set(rows.map(({ inode }) => `socket:[${inode}]`));
}
