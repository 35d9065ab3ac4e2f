/** Decides whether an address belongs to the public internet, for requests to an address chosen by a stranger. Pure. */
import { BlockList, isIPv6 } from 'node:net';

/** The special-purpose registries of IANA (RFC 6890): private, loopback, link-local, shared, documentation, multicast. */
const V4_RANGES: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const special = new BlockList();
for (const [network, bits] of V4_RANGES) special.addSubnet(network, bits, 'ipv4');
/** Only 2000::/3 is allocated; its tunnel and documentation ranges are excluded. */
const handedOut = new BlockList();
handedOut.addSubnet('2000::', 3, 'ipv6');
const specialV6 = new BlockList();
specialV6.addSubnet('2001::', 23, 'ipv6');
specialV6.addSubnet('2001:db8::', 32, 'ipv6');
specialV6.addSubnet('2002::', 16, 'ipv6');
specialV6.addSubnet('3fff::', 20, 'ipv6');

/** True for an address reachable on the public internet. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !special.check(address, 'ipv4');
  return handedOut.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
}
