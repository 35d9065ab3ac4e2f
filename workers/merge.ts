/** Compares and merges long texts off the main thread. */
import type { DiffInput } from '../src/text/job-types.ts';
import { runMerge } from '../src/text/merge.ts';
import { unifiedDiff } from '../src/text/unified-diff.ts';

export const merge = runMerge;

export function diff(input: DiffInput): string {
  return unifiedDiff(input);
}
