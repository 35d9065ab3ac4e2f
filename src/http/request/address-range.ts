/**
 * Compares an address with a range of addresses, in numbers: every address is eight words of 16 bits, an IPv4 one as the
 * IPv6 address that maps it (RFC 4291, 2.5.5.2). Node's BlockList does the same and makes an object of the C++ side for
 * each comparison; thousands of them are freed in one pause of the garbage collector, in which nobody is served. Pure.
 */
import { isIP } from 'node:net';

/** The addresses that begin with the same bits. */
export interface AddressRange {
  readonly words: readonly number[];
  /** Of 128. */
  readonly bits: number;
}

const WORDS = 8;
const BITS_OF_WORD = 16;
const IPV4_BITS = 32;

/** The words of an address; undefined: the text is none. A zone (`%eth0`) says nothing of the address and is left out. */
export function addressWords(address: string): readonly number[] | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return [0, 0, 0, 0, 0, 0xffff, ...wordsOfIpv4(address)];
  const [text = ''] = address.split('%');
  const [head = '', tail] = text.split('::');
  const before = wordsIn(head);
  const after = wordsIn(tail ?? '');
  return [...before, ...Array<number>(WORDS - before.length - after.length).fill(0), ...after];
}

/** A range of the addresses with the first `prefix` bits of an address; undefined: the text is none. */
export function rangeOf(address: string, prefix: number): AddressRange | undefined {
  const words = addressWords(address);
  const bits = prefix + (isIP(address) === 4 ? WORDS * BITS_OF_WORD - IPV4_BITS : 0);
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

function wordsIn(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? wordsOfIpv4(group) : [Number.parseInt(group, 16)]));
}

function wordsOfIpv4(address: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}
