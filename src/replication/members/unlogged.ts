/** What a member does with commits that it answered before the log had them, when it reads the log again. */
import { limits } from '../../limits/service.ts';
import type { ReplicaFile } from '../../store/logged/replica.ts';
import type { DecodedRecord, RecordHead } from '../frame.ts';
import type { Owner } from './owner.ts';

/** Numbers of the commits of a data file that the log may lack. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/**
 * What a record means for the data file of a folder. Pure.
 * - `apply`: its rows go into the file.
 * - `confirm`: this folder wrote it, from commits that the file has.
 * - `forked`: another member has written while the file has commits that no record has.
 */
export function meet(
  { note, rows }: Pick<DecodedRecord, 'note' | 'rows'>,
  instance: string,
  unlogged: Span | undefined,
): 'apply' | 'confirm' | 'forked' {
  if (unlogged === undefined) return 'apply';
  if (note?.['instance'] !== instance) return 'forked';
  if (Number(note['through'] ?? 0) >= unlogged.first) return 'confirm';
  return rows.length === 0 ? 'apply' : 'forked';
}

/** Another member has taken over, and this data file has commits that the log does not have. */
export class Forked extends Error {
  override readonly name = 'Forked';

  constructor({ position, member }: RecordHead) {
    super(`${member} has written record ${position}, and this data folder has answered writes that are not in the log`);
  }
}

/** Appends what a crash kept from the log. Resolves when the log has all that the data file has. */
export async function appendUnlogged(replica: ReplicaFile, owner: Owner): Promise<number> {
  let records = 0;
  for (;;) {
    const group = replica.oldestUnlogged(limits.logGroupBytesMax);
    if (group === undefined) return records;
    const place = await owner.append(group.rows, group.through);
    await replica.confirm(group.through, place);
    records += 1;
  }
}
