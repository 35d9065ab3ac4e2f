/**
 * Counts addresses by who can hold them. An IPv6 subscriber has a /64 at least, a /56 or a /48 as a rule (RFC 6177), so
 * an address is counted in all three networks, with rising shares: whoever holds a /48 has four times the share of one
 * /64, not 65,536 times. An IPv4 address counts alone: its neighbours are other subscribers. Pure.
 */
import { isIPv6 } from 'node:net';

/** A network that an address is counted in. */
export interface Network {
  readonly name: string;
  /** The network has so many times the share of one address or /64. */
  readonly share: number;
}

/** The networks that an IPv6 address is counted in, and how many times the share of one /64 each has. */
const NETWORKS = [
  { bits: 64, share: 1 },
  { bits: 56, share: 2 },
  { bits: 48, share: 4 },
];
const GROUPS = 8;
const BITS_OF_GROUP = 16;

/**
 * Returns the networks of an address, or of one of its networks, narrowest first. Any other text is one caller of its
 * own, e.g. the id of a key.
 */
export function networksOf(address: string): readonly Network[] {
  const groups = groupsOf(address);
  if (groups === undefined) return [{ name: address, share: 1 }];
  return NETWORKS.map(({ bits, share }) => ({ name: prefix(groups, bits), share }));
}

/** True for a text that is no IPv6 address: it is counted under its own name. */
export function isAlone(address: string): boolean {
  return !address.includes(':');
}

/** Returns the narrowest network of an address: the /64 of an IPv6 address, and any other address unchanged. */
export function addressBlock(address: string): string {
  return isAlone(address) ? address : (networksOf(address)[0]?.name ?? address);
}

/** Returns the widest network of an address: callers take turns by it. */
export function widestNetwork(address: string): string {
  return isAlone(address) ? address : (networksOf(address).at(-1)?.name ?? address);
}

/** The groups of an IPv6 address or network; undefined: it is neither. */
function groupsOf(address: string): readonly number[] | undefined {
  if (isAlone(address)) return undefined;
  const plain = address.replace(/[%/].*$/, '');
  if (plain.includes('.') || !isIPv6(plain)) return undefined;
  return ipv6Groups(plain);
}

/** The network of the first bits, e.g. `2001:db8:0:ff00::/56`. */
function prefix(groups: readonly number[], bits: number): string {
  const kept = Array.from({ length: Math.ceil(bits / BITS_OF_GROUP) }, (_, at) => {
    const cut = Math.max(0, (at + 1) * BITS_OF_GROUP - bits);
    return (((groups[at] ?? 0) >>> cut) << cut).toString(16);
  });
  return `${kept.join(':')}::/${bits}`;
}

/** The eight groups of 16 bits of a valid IPv6 address without a zone (RFC 4291, 2.2). */
export function ipv6Groups(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const before = groupsIn(head);
  const after = groupsIn(tail ?? '');
  return [...before, ...Array<number>(GROUPS - before.length - after.length).fill(0), ...after];
}

/** The two groups of a valid IPv4 address. */
export function ipv4Groups(address: string): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

function groupsIn(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ipv4Groups(group) : [Number.parseInt(group, 16)]));
}
