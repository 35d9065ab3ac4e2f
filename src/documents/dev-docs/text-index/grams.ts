/**
 * Computes the signature of a text: the slots of its grams. Pure.
 *
 * A gram is three consecutive characters, or two beyond ASCII, because characters of such scripts carry more
 * information. A text that contains the search term contains all of its grams. So a document lacking one of their slots
 * is not read; a document with all of them may still lack the search term, so it is read. (Signature files: Faloutsos
 * and Christodoulakis 1984.)
 */
import { limits } from '../../../limits/service.ts';
import type { DevDocRecord } from '../declared.ts';

export const SLOTS = 4096;
const SLOT_BITS = 12;

/** One bit per slot. */
export type Signature = Uint8Array;

/** Returns a text in the form used for comparison, which ignores case and how accents are composed. */
export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Returns the slots of a document. A very long text gets all slots: it has most of them and is read anyway. */
export function signatureOf(doc: Pick<DevDocRecord, 'title' | 'category' | 'content_type'>, text: string): Signature {
  const signature = new Uint8Array(SLOTS / 8);
  if (text.length > limits.devDocGramsCharsMax) {
    signature.fill(0xff);
    return signature;
  }
  const set = (slot: number) => {
    signature[slot >>> 3] = (signature[slot >>> 3] ?? 0) | (1 << (slot & 7));
  };
  eachGram(foldText(doc.title), set);
  eachGram(foldText(text), set);
  for (const label of labelsOf(doc.category, doc.content_type)) set(label);
  return signature;
}

/**
 * Returns slots that every match has: a spread sample of those of the search term, and those of the filters. Empty when
 * the search term has no grams.
 */
export function wantedSlots(folded: string, category: string | undefined, contentType: string | undefined): number[] {
  const grams = new Set<number>();
  eachGram(folded, (slot) => grams.add(slot));
  if (grams.size === 0) return [];
  const all = [...grams];
  const step = Math.max(1, all.length / limits.devDocGramsWanted);
  const spread = Array.from(
    { length: Math.min(all.length, limits.devDocGramsWanted) },
    (_, n) => all[Math.floor(n * step)],
  );
  return [...new Set([...(spread as number[]), ...labelsOf(category, contentType)])];
}

export function hasSlot(signature: Signature, slot: number): boolean {
  return (((signature[slot >>> 3] ?? 0) >>> (slot & 7)) & 1) === 1;
}

/** Returns the slots of the filter values. They begin with a character that no text contains. */
function labelsOf(category: string | undefined, contentType: string | undefined): number[] {
  const slots: number[] = [];
  for (const label of [category && `\u0000c${category}`, contentType && `\u0000t${contentType}`]) {
    if (label === undefined || label === '') continue;
    let hash = 0;
    for (let at = 0; at < label.length; at += 1) hash = Math.imul(hash ^ label.charCodeAt(at), 0x01000193);
    slots.push(slotOf(hash));
  }
  return slots;
}

function eachGram(text: string, take: (slot: number) => void): void {
  let before = 0;
  let last = 0;
  for (let at = 0; at < text.length; at += 1) {
    const next = text.charCodeAt(at);
    if (at >= 2) take(gramSlot(before, last, next));
    if (at >= 1 && last > 0x7f && next > 0x7f) take(gramSlot(last, next, 0x110000));
    before = last;
    last = next;
  }
}

function gramSlot(a: number, b: number, c: number): number {
  return slotOf(Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35));
}

/** Finalizer of MurmurHash3 (Appleby 2011), reduced to a slot. */
function slotOf(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> (32 - SLOT_BITS);
}
