/**
 * Preserves ids a JSON parser would change: JSON numbers have any length, and an integer above 2^53 would be rounded.
 * Such an id is read from the text of the request and returned as written. Pure.
 */

/** A number as written by the sender. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The ids of a body's messages as written; empty, without calling `text`, when the parser changed none. */
export function changedIds(document: unknown, text: () => string): readonly (string | undefined)[] {
  const messages: readonly unknown[] = Array.isArray(document) ? document : [document];
  return messages.some((message) => isInexact(idOf(message))) ? numericIds(text()) : [];
}

/** The exact id of a message; `written`: its text in the body. Undefined when the parser did not change it. */
export function exactId(message: unknown, written: string | undefined): ExactNumber | undefined {
  return written !== undefined && isInexact(idOf(message)) ? new ExactNumber(written) : undefined;
}

/** True for a parsed id that may differ from the one sent. */
function isInexact(id: unknown): boolean {
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}

function idOf(message: unknown): unknown {
  return (message as { readonly id?: unknown } | null)?.id;
}

/**
 * The ids of the messages in a valid JSON text, in order: one for an object, one per item for an array. Undefined when
 * an id is missing or not a number. The last of duplicate ids counts, as for the parser.
 */
export function numericIds(text: string): (string | undefined)[] {
  const ids: (string | undefined)[] = [];
  const isBatch = text.trimStart().startsWith('[');
  const messageDepth = isBatch ? 2 : 1;
  let depth = 0;
  let item = 0;
  let key: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      const string = match(STRING, text, at);
      at += string.length - 1;
      if (depth === messageDepth && key === undefined) key = JSON.parse(string) as string;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === ',' && depth === messageDepth) key = undefined;
    else if (char === ',' && depth === 1 && isBatch) item += 1;
    else if (depth === messageDepth && key === 'id' && /[-\d]/.test(char)) {
      const number = match(NUMBER, text, at);
      ids[item] = number;
      at += number.length - 1;
    }
    if (depth < messageDepth) key = undefined;
  }
  return ids;
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? text.charAt(at);
}
