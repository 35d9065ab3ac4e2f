/** Tells before a job runs whether it may take long: more than a few milliseconds of a thread. Pure. */
import { limits } from '../limits/service.ts';
import type { JobName, Jobs } from './jobs.ts';

type IsLong = { readonly [N in JobName]: (input: Jobs[N]['input']) => boolean };

const always = () => true;
const isMuch = (bytes: number) => bytes > limits.poolShortBytesMax;
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

const isLong: IsLong = {
  // Its chunks come one by one.
  digestStream: () => false,
  digestFile: () => false,
  digestBodies: () => false,
  hashPassword: always,
  verifyPassword: always,
  prepareContent: ({ text }) => isMuch(text.length),
  digestContents: (contents) => isMuch(sum(contents.map(({ text }) => text.length))),
  readStored: ({ version, escaped }) => isMuch(version.length + escaped.length),
  parseBody: ({ parts }) => isMuch(sum(parts.map(({ length }) => length))),
  merge: always,
  diff: always,
  renderMarkdown: always,
  renderCode: always,
};

export function isLongJob<N extends JobName>(name: N, input: Jobs[N]['input']): boolean {
  return isLong[name](input);
}
