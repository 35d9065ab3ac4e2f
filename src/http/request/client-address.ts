/** Finds the client address of a request: the peer's, or the forwarded address when the peer is a trusted proxy. */
import { isIP } from 'node:net';
import { StartError } from '../../common/start-error.ts';
import { type AddressRange, addressWords, isWithin, rangeOf } from './address-range.ts';

/** An unused address, reserved for documentation (RFC 5737). Only of a proxy does it become the client's address. */
export const SOMEBODY_ELSE = '192.0.2.1';

/** Creates the resolver from a list of addresses and CIDR ranges. Throws StartError on an entry that is neither. */
export function createAddressResolver(
  trusted: readonly string[],
): (peer: string, forwardedFor: string | undefined) => string {
  const proxies = trusted.map(readEntry);
  const isTrusted = (address: string) => {
    const words = addressWords(address);
    return words !== undefined && proxies.some((range) => isWithin(words, range));
  };
  return (peer, forwardedFor) => {
    if (trusted.length === 0 || forwardedFor === undefined || !isTrusted(peer)) return peer;
    // Each proxy appends the peer it saw, so the client is the last entry that is not itself a trusted proxy.
    const hops = forwardedFor.split(',').map((hop) => hop.trim());
    const client = hops.reverse().find((hop) => !isTrusted(hop));
    return client !== undefined && isIP(client) !== 0 ? client : peer;
  };
}

function readEntry(entry: string): AddressRange {
  const [address = '', bits, ...rest] = entry.split('/');
  const bitsMax = isIP(address) === 6 ? 128 : 32;
  const prefix = readBits(bits, bitsMax);
  const isPrefix = Number.isInteger(prefix) && prefix >= 0 && prefix <= bitsMax && bits !== '' && rest.length === 0;
  const range = isPrefix ? rangeOf(address, prefix) : undefined;
  if (range === undefined) {
    throw new StartError(`CAIRN_TRUSTED_PROXIES must list addresses or ranges like 10.0.0.0/8, not "${entry}".`);
  }
  return range;
}

function readBits(bits: string | undefined, bitsMax: number): number {
  if (bits === undefined) return bitsMax;
  return /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
}

/** Returns the peer address as text. An IPv4 address reported by an IPv6 socket is returned as IPv4. */
export function peerAddress(text: ArrayBuffer): string {
  const address = Buffer.from(text).toString('latin1');
  if (!address.includes(':')) return address;
  const mapped = /^(?:::ffff:|0{4}:0{4}:0{4}:0{4}:0{4}:ffff:)([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(address);
  if (mapped === null) return address;
  const word = Number.parseInt(`${mapped[1]}${mapped[2]}`, 16);
  return [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.');
}
