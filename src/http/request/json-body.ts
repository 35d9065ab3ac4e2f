/**
 * Parses bytes as a JSON document: UTF-8 only, bounded depth and number of values; the last duplicate key wins. Pure.
 */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';

const NOT_JSON = 'body is not valid JSON';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a body. Throws Refusal `invalid_json`. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new Refusal({ kind: 'invalid_json', detail: NOT_JSON });
  }
  const excess = excessOf(text);
  if (excess !== undefined) throw new Refusal({ kind: 'invalid_json', detail: excess });
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal({ kind: 'invalid_json', detail: NOT_JSON });
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** True when a body may have more values than `max`. Quick: it also counts what is in texts. */
export function mayHaveValues(parts: readonly Uint8Array[], max: number): boolean {
  let values = 1;
  for (const part of parts) {
    if (values + part.length <= max) {
      values += part.length;
      continue;
    }
    for (const byte of part) if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1;
  }
  return values > max;
}

/** Counts brackets and commas outside strings before parsing. Invalid JSON is left to the parser. */
function excessOf(text: string): string | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at + 1);
    else if (char === COMMA) values += 1;
    else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      depth += 1;
      values += 1;
      if (depth > limits.jsonDepthMax) {
        return `body is nested deeper than ${limits.jsonDepthMax} levels; flatten it`;
      }
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth -= 1;
    if (values > limits.jsonValuesMax) {
      return `body has more than ${limits.jsonValuesMax} values; send it in parts`;
    }
  }
  return undefined;
}

/**
 * Returns the index of the closing quote of the string starting at `from` (after an even number of backslashes), or the
 * end of the text.
 */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
