/**
 * Counts connections per address while connections are scarce. The HTTP library does not report whose connection it
 * closes, so the kernel's tables are read (`/proc/net/tcp`, Linux; elsewhere every address is welcome) and newer
 * connections are added.
 */
import { networksOf } from '../../common/networks.ts';
import { limits } from '../../limits/service.ts';
import { readTcpTables, rowsOfPort } from '../library/tcp-tables.ts';
import { type Connection, peerAddress, SOMEBODY_ELSE } from '../request/client-address.ts';
import type { Admission } from './admission.ts';

export interface PeersOptions {
  /** The port that accepts the connections. */
  readonly port: () => number;
  /** An address with fewer connections than this gets another; a network, with fewer than its share of these. */
  readonly littleMax: number;
  /** True for an address of a proxy, whose connections belong to many clients. */
  readonly isProxy: (address: string) => boolean;
  /** Reads the tables of connections; empty texts where the system has none. */
  readonly readTables: () => Promise<readonly string[]>;
}

/** Share of all connections below which one address gets another. */
const LITTLE = 1 / 16;
const ESTABLISHED = '01';
const CLOSE_WAIT = '08';

export class Peers {
  readonly #options: PeersOptions;
  /** Connections by address in the kernel's tables; undefined when this system has no such tables. */
  #held: ReadonlyMap<string, number> | undefined = new Map();
  /** Connections accepted after that. */
  readonly #since = new Map<string, number>();
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** True when an address has few enough connections to get one more, which is then counted. */
  isWelcome(connection: Connection): boolean {
    const address = peerAddress(connection);
    const { littleMax, isProxy } = this.#options;
    if (isProxy(address)) return true;
    this.#ask();
    if (this.#held === undefined) return true;
    const networks = networksOf(address);
    const heldBy = (name: string) => (this.#held?.get(name) ?? 0) + (this.#since.get(name) ?? 0);
    if (networks.some(({ name, share }) => heldBy(name) >= littleMax * share)) return false;
    for (const { name } of networks) this.#since.set(name, (this.#since.get(name) ?? 0) + 1);
    return true;
  }

  #ask(): void {
    const nowMs = performance.now();
    if (nowMs < this.#askedMs + limits.peersAskedMs) return;
    this.#askedMs = nowMs;
    void this.#read();
  }

  async #read(): Promise<void> {
    const before = new Map(this.#since);
    const tables = await this.#options.readTables();
    const isTold = tables.some((table) => table !== '');
    this.#held = isTold ? connectionsByNetwork(tables, this.#options.port()) : undefined;
    // A connection that came during the read may be in the tables or not, so it goes on counting.
    for (const [name, count] of before) {
      const during = (this.#since.get(name) ?? 0) - count;
      if (during > 0) this.#since.set(name, during);
      else this.#since.delete(name);
    }
  }
}

/** The peers of a front door listening on a port. */
export function peersOf(
  {
    admission,
    clientAddress,
  }: { readonly admission: Admission; readonly clientAddress: (peer: string, forwardedFor: string) => string },
  port: () => number,
): Peers {
  return new Peers({
    port,
    littleMax: Math.max(limits.peerConnectionsMin, Math.floor(admission.connectionsMax * LITTLE)),
    // An address is a proxy when its forwarded addresses are trusted.
    isProxy: (address) => clientAddress(address, SOMEBODY_ELSE) !== address,
    readTables: readTcpTables,
  });
}

/** Counts open connections to a port by each network of the remote address, from the kernel's tables. */
export function connectionsByNetwork(tables: readonly string[], port: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const { remote, state } of rowsOfPort(tables, port)) {
    if (state !== ESTABLISHED && state !== CLOSE_WAIT) continue;
    for (const { name } of networksOf(addressOf(remote.slice(0, remote.lastIndexOf(':'))))) {
      found.set(name, (found.get(name) ?? 0) + 1);
    }
  }
  return found;
}

/** Formats an address given in hex as words of four bytes, each with the lowest byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    [6, 4, 2, 0].map((at) => Number.parseInt(word.slice(at, at + 2), 16)),
  );
  const isMapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff;
  if (bytes.length === 4 || isMapped) return bytes.slice(-4).join('.');
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return groups.join(':');
}
