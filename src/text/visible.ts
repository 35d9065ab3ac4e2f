/** Whether a text shows anything. Pure. */

/** All but blanks, control and format characters, fillers and the empty pattern of Braille. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** False for a text of characters that take no ink, such as zero-width ones. */
export function hasInk(text: string): boolean {
  return VISIBLE.test(text);
}
