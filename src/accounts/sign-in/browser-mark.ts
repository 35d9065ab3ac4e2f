/**
 * Issues and checks the mark of a browser that has signed in: a random name, and for each email a keyed tag over both.
 * It grants no access; it only distinguishes a known browser from a stranger's. The hub stores nothing of it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

const NAME_BYTES = 16;
const TAG_CHARS = 32;
const EMAILS_MAX = 5;
const SHAPE = /^[A-Za-z0-9_-]{22}(\.[0-9a-f]{32}){1,5}$/;

export class BrowserMarks {
  readonly #keyedHash: (purpose: string, value: string) => string;

  constructor(keyedHash: (purpose: string, value: string) => string) {
    this.#keyedHash = keyedHash;
  }

  /** Returns the name of a browser that has signed in with this email; undefined: it has not, or an invalid mark. */
  knownAs(mark: string | undefined, email: string): string | undefined {
    const { name, tags } = read(mark);
    if (name === undefined) return undefined;
    const expected = Buffer.from(this.#tag(name, email));
    return tags.some((tag) => timingSafeEqual(Buffer.from(tag), expected)) ? name : undefined;
  }

  /** Returns the mark of a browser, extended by a sign-in with this email. */
  extend(mark: string | undefined, email: string): string {
    if (mark !== undefined && this.knownAs(mark, email) !== undefined) return mark;
    const { name = randomBytes(NAME_BYTES).toString('base64url'), tags } = read(mark);
    return [name, this.#tag(name, email), ...tags].slice(0, EMAILS_MAX + 1).join('.');
  }

  #tag(name: string, email: string): string {
    return this.#keyedHash('browser-mark', `${name}\n${email}`).slice(0, TAG_CHARS);
  }
}

function read(mark: string | undefined): { readonly name?: string; readonly tags: readonly string[] } {
  if (mark === undefined || !SHAPE.test(mark)) return { tags: [] };
  const [name = '', ...tags] = mark.split('.');
  return { name, tags };
}
