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

/** What the HTTP library knows of the other end of a connection. */
export interface Connection {
  /** Four bytes, sixteen, or none when it is closed. */
  getRemoteAddress(): ArrayBuffer;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** Returns the peer address as text. An IPv4 address reported by an IPv6 socket is returned as IPv4. */
export function peerAddress(connection: Connection): string {
  const word = ipv4Word(new DataView(connection.getRemoteAddress()));
  if (word === undefined) return Buffer.from(connection.getRemoteAddressAsText()).toString('latin1');
  const known = texts.get(word);
  if (known !== undefined) return known;
  if (texts.size === TEXTS_MAX) texts = new Map();
  const text = [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.');
  texts.set(word, text);
  return text;
}

/** Texts of IPv4 addresses: the library prints an address for each request in a microsecond. */
let texts = new Map<number, string>();
const TEXTS_MAX = 1000;

/** The number of an IPv4 address, or of one in an IPv6 address (RFC 4291, 2.5.5.2). */
function ipv4Word(bytes: DataView): number | undefined {
  if (bytes.byteLength === 4) return bytes.getUint32(0);
  const isMapped = bytes.byteLength === 16 && bytes.getBigUint64(0) === 0n && bytes.getUint32(8) === 0xffff;
  return isMapped ? bytes.getUint32(12) : undefined;
}
