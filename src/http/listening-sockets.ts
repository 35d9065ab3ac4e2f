/** Finds the sockets that listen on a port in the kernel's tables (proc_net_tcp). Pure. */

const LISTEN = '0A';

/** The names of the sockets that listen on a port, as `/proc/self/fd` shows them. `tables`: of IPv4 and IPv6. */
export function listeningSockets(tables: readonly string[], port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const found = new Set<string>();
  for (const line of tables.flatMap((table) => table.split('\n'))) {
    // "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 4711 …": the tenth is the inode.
    const [, local, , state, , , , , , inode] = line.trimStart().split(/ +/, 10);
    if (local?.endsWith(suffix) === true && state === LISTEN && inode !== undefined) found.add(`socket:[${inode}]`);
  }
  return found;
}
