/**
 * Compares an address with a range of addresses, in numbers: every address is eight words of 16 bits, an IPv4 one as the
 * IPv6 address that maps it (RFC 4291, 2.5.5.2). Node's BlockList does the same and makes an object of the C++ side for
 * each comparison; the garbage collector frees thousands of them in one pause, in which the hub answers no request. Pure.
 */
import { isIP } from 'node:net';
import { ipv4Groups, ipv6Groups } from '../../common/networks.ts';

/** The addresses that begin with the same bits. */
export interface AddressRange {
  readonly words: readonly number[];
  /** Of 128. */
  readonly bits: number;
}

const BITS_OF_WORD = 16;
const ADDRESS_BITS = 128;
const IPV4_BITS = 32;

/** The words of an address; undefined: the text is none. A zone (`%eth0`) says nothing of the address and is left out. */
export function addressWords(address: string): readonly number[] | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return [0, 0, 0, 0, 0, 0xffff, ...ipv4Groups(address)];
  const [text = ''] = address.split('%');
  return ipv6Groups(text);
}

/** A range of the addresses with the first `prefix` bits of an address; undefined: the text is none. */
export function rangeOf(address: string, prefix: number): AddressRange | undefined {
  const words = addressWords(address);
  const bits = prefix + (isIP(address) === 4 ? ADDRESS_BITS - IPV4_BITS : 0);
  return words && { words, bits };
}

/** True when the words of an address begin with the bits of the range. */
export function isWithin(words: readonly number[], range: AddressRange): boolean {
  for (let at = 0, left = range.bits; left > 0; at += 1, left -= BITS_OF_WORD) {
    const unlike = (words[at] ?? 0) ^ (range.words[at] ?? 0);
    if (unlike >>> Math.max(0, BITS_OF_WORD - left) !== 0) return false;
  }
  return true;
}
