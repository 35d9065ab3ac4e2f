/** The other end of a connection, as the HTTP library tells it. */
import { ipv4Groups, ipv6Groups } from '../../src/common/networks.ts';
import type { Connection } from '../../src/http/request/client-address.ts';

/** A connection of an address; `::ffff:` before an IPv4 address: as an IPv6 socket tells it. */
export function connectionOf(address: string): Connection {
  const [, mapped] = /^::ffff:(.*\..*)$/.exec(address) ?? [];
  const groups = mapped === undefined ? groupsOf(address) : [0, 0, 0, 0, 0, 0xffff, ...ipv4Groups(mapped)];
  return {
    getRemoteAddress: () => Uint8Array.from(groups.flatMap((group) => [group >>> 8, group & 255])).buffer,
    getRemoteAddressAsText: () => new TextEncoder().encode(address).buffer,
  };
}

const groupsOf = (address: string) => (address.includes(':') ? ipv6Groups(address) : ipv4Groups(address));
