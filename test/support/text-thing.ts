/** A thing that is no more than a text in memory: of the search, tests and benches need only what is found in it. */
import type { Thing } from '../../src/ids/thing.ts';

interface TextOf {
  readonly key: string;
  readonly title: string;
  readonly place: string;
  readonly text: string;
  readonly stamp: number;
}

export function textThing({ key, title, place, text, stamp }: TextOf): Thing {
  return {
    id: key,
    kind: 'file',
    what: 'file',
    key,
    title,
    place,
    path: key,
    mimeType: 'text/plain',
    changedMs: 0,
    changedBy: undefined,
    sizeBytes: text.length,
    version: 1,
    stamp,
    facts: {},
    text: () => text,
  };
}
