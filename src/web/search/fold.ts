/** Owns in which form texts are compared by a search: without regard to case. Pure. */

export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
