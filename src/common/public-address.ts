/** Decides whether an address or a host name belongs to the public internet. Pure. */
import { BlockList, isIP, isIPv6 } from 'node:net';

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

/** Names that mean nothing outside one machine or one network (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan|test|example|invalid)$/i;

/** True for the host of a URL that machines elsewhere may reach: a public address, or a name that is not local by its form. */
export function isPublicHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(bare) !== 0) return isPublicAddress(bare);
  return bare.includes('.') && !LOCAL_NAME.test(bare);
}
