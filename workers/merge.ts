/** Compares and merges long texts off the main thread. */
import { runMerge } from '../src/text/merge.ts';
import { unifiedDiff } from '../src/text/unified-diff.ts';

export const merge = runMerge;

export const diff = unifiedDiff;
