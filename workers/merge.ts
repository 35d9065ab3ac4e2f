/** Compares and merges long texts off the main thread. */
import type { DiffInput } from '../src/pool/jobs.ts';
import { runMerge } from '../src/sync/merge.ts';
import { unifiedDiff } from '../src/sync/unified-diff.ts';

export const merge = runMerge;

export function diff(input: DiffInput): string {
  return unifiedDiff(input);
}
