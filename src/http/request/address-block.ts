/** Groups addresses by caller: an IPv4 address, or the /64 of one IPv6 subscriber (RFC 6177). Pure. */
import { isIPv6 } from 'node:net';

const GROUPS = 8;
const GROUPS_OF_BLOCK = 4;

/** Returns the /64 of an IPv6 address, and any other address unchanged. */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address;
  const plain = address.replace(/%.*$/, '');
  if (!isIPv6(plain) || plain.includes('.')) return address;
  const [head = '', tail] = plain.split('::');
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':'));
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = tail === undefined ? 0 : GROUPS - before.length - after.length;
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  const block = groups.slice(0, GROUPS_OF_BLOCK).map((group) => Number.parseInt(group, 16).toString(16));
  return `${block.join(':')}::/64`;
}
