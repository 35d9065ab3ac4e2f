/** Counts and shows the lines that each version of a page of a history added and removed, as far as that is cheap. */
import type { VNode } from 'preact';
import { turns } from '../../../common/turns.ts';
import { limits } from '../../../limits/service.ts';
import type { VersionMeta } from '../../../sync/log/version.ts';
import type { Sync } from '../../../sync/service.ts';
import { textContentOf } from '../../../text/text-content.ts';
import { changesIn } from './side-by-side.ts';

export interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

/** One version, and the content before it; undefined: there was none. */
interface Step {
  readonly version: VersionMeta;
  readonly previous: Pick<VersionMeta, 'seq' | 'size_bytes' | 'type'> | undefined;
}

/**
 * Returns counts by sequence number. Versions have none that deleted the file, are binary or long, or come after
 * `countedBytesMax` bytes of the page were compared.
 */
export async function countChangedLines(
  { reader, comparer }: Sync,
  { accountId, vaultId }: { readonly accountId: string; readonly vaultId: string },
  steps: readonly Step[],
): Promise<ReadonlyMap<number, LineCounts>> {
  const counts = new Map<number, LineCounts>();
  let bytesLeft: number = limits.countedBytesMax;
  for (const { version, previous } of steps) {
    const bytes = version.size_bytes + (previous?.size_bytes ?? 0);
    if (version.type === 'deleted' || bytes > limits.mergeInlineBytesMax) continue;
    bytesLeft -= bytes;
    if (bytesLeft < 0) break;
    const read = (seq: number) => textContentOf(reader.content(vaultId, seq) ?? new Uint8Array(0));
    const after = read(version.seq);
    const before = previous === undefined || previous.type === 'deleted' ? '' : read(previous.seq);
    if (before === undefined || after === undefined) continue;
    const names = { beforeName: 'before', afterName: 'after', contextLines: 0 };
    const diff = before === after ? '' : await comparer.diff({ before, after, ...names }, accountId);
    if (diff === '' || diff.includes('\n@@ ')) counts.set(version.seq, diff === '' ? NONE : changesIn(diff));
    if (turns.isOver) await turns.next(accountId);
  }
  return counts;
}

const NONE: LineCounts = { added: 0, removed: 0 };

export function Counts({ added, removed }: LineCounts): VNode {
  return (
    <span class="nobr">
      <ins class="count-added">+{added}</ins> <del class="count-removed">−{removed}</del> lines
    </span>
  );
}
