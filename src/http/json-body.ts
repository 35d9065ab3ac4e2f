/** Owns how bytes become a JSON document: UTF-8 only, bounded depth, the last of duplicate keys. Pure. */
import { Refusal } from '../fault.ts';
import { limits } from '../limits.ts';

const NOT_JSON = 'body is not valid JSON';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a body. Refuses with `invalid_json`. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new Refusal({ kind: 'invalid_json', detail: NOT_JSON });
  }
  if (isTooDeep(text)) {
    throw new Refusal({
      kind: 'invalid_json',
      detail: `body nests deeper than ${limits.jsonDepthMax} levels, which is the most that is accepted`,
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal({ kind: 'invalid_json', detail: NOT_JSON });
  }
}

/** Counts brackets outside strings; wrong JSON is left to the parser. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') {
      depth += 1;
      if (depth > limits.jsonDepthMax) return true;
    } else if (char === '}' || char === ']') depth -= 1;
  }
  return false;
}
