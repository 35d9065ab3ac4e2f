/** Compares and merges long texts off the main thread. */
import type { DiffInput, MergeInput, MergeOutput } from '../src/pool/jobs.ts';
import { mergeTexts } from '../src/sync/merge.ts';
import { unifiedDiff } from '../src/sync/unified-diff.ts';

export function merge({ texts, options }: MergeInput): MergeOutput {
  return mergeTexts(texts, options);
}

export function diff(input: DiffInput): string {
  return unifiedDiff(input);
}
