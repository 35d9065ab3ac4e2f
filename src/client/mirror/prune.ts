/**
 * Decides which archives leave the hub by rules of retention. A backup stays with everything that its
 * restore needs, so no chain is ever broken.
 */
import { groupedBy } from '../../text/grouped-by.ts';
import { type KeepRules, type KeptBackup, retained } from '../../time/retention.ts';
import type { MirrorBlob, MirrorHub } from './hub.ts';
import { NOTE_BYTES_MAX, readNote } from './note.ts';

export interface PrunePlan {
  /** Newest first. */
  readonly kept: readonly MirrorBlob[];
  /** In an order of removal in which no archive loses its base. */
  readonly leaving: readonly MirrorBlob[];
}

/** What the beginning of an archive shows: the last part of its upload, an earlier one, or nothing. */
export type Completeness = 'complete' | 'partial' | 'unknown';

/**
 * Plans the removal within one repository. Archives of unknown completeness stay: they may be the last part of
 * a backup, or not. Pure.
 */
export function planPrune(
  archives: readonly MirrorBlob[],
  rules: KeepRules,
  of: (blob: MirrorBlob) => Completeness,
): PrunePlan {
  const chains = chainsOf(archives);
  const kept = new Set<string>();
  for (const own of setsOf(archives)) {
    const candidates = own.map((blob): KeptBackup => {
      const isWhole = of(blob) !== 'partial' && chains.get(blob)?.isWhole === true;
      return { name: nameOf(blob), madeMs: Date.parse(blob.uploaded_at), since: undefined, isWhole };
    });
    const newest = candidates.find(({ isWhole }) => isWhole);
    // Until one is complete, nothing stands for it.
    if (newest === undefined) for (const { name } of candidates) kept.add(name);
    else for (const name of retained(candidates, newest.name, rules)) kept.add(name);
    // Those before the newest whole one may belong to an upload that is under way.
    const underWay = candidates.findIndex(({ isWhole }) => isWhole);
    for (const [index, blob] of own.entries()) {
      if (index < underWay || of(blob) === 'unknown') kept.add(nameOf(blob));
    }
  }
  const needed = withBases(
    archives,
    archives.filter((blob) => kept.has(nameOf(blob))),
  );
  const depth = (blob: MirrorBlob) => chains.get(blob)?.depth ?? 0;
  return {
    kept: archives.filter((blob) => needed.has(blob)),
    leaving: archives.filter((blob) => !needed.has(blob)).toSorted((one, other) => depth(other) - depth(one)),
  };
}

/** Forks share the id of a repository, and plain archives stand beside its backups: each set has its own days and weeks. */
function setsOf(archives: readonly MirrorBlob[]): readonly (readonly MirrorBlob[])[] {
  const nameOf = (blob: MirrorBlob) => JSON.stringify([blob.repository_label ?? null, blob.archive_kind ?? null]);
  return [...groupedBy(archives, nameOf).values()];
}

/** The archives with all those that their restore needs. The same bytes may belong to several commits. */
function withBases(archives: readonly MirrorBlob[], kept: readonly MirrorBlob[]): ReadonlySet<MirrorBlob> {
  const bytes = groupedBy(archives, ({ sha256 }) => sha256);
  const needed = new Set(kept);
  // The set grows while it is walked, so that a chain is followed to its beginning.
  for (const blob of needed) for (const one of bytes.get(blob.base_sha256 ?? '') ?? []) needed.add(one);
  return needed;
}

/** How many archives each one builds on, and whether all of them are there and undamaged. */
interface Chain {
  readonly depth: number;
  readonly isWhole: boolean;
}

function chainsOf(archives: readonly MirrorBlob[]): ReadonlyMap<MirrorBlob, Chain> {
  const known = new Map(archives.map((blob) => [blob.sha256, blob]));
  const chains = new Map<MirrorBlob, Chain>();
  for (const blob of archives) {
    const way: MirrorBlob[] = [];
    let one: MirrorBlob | undefined = blob;
    while (one !== undefined && !chains.has(one) && !way.includes(one)) {
      way.push(one);
      one = known.get(one.base_sha256 ?? '');
    }
    for (const above of way.toReversed()) {
      const base = chains.get(known.get(above.base_sha256 ?? '') ?? above);
      const isStart = above.base_sha256 == null;
      const isWhole = above.quarantined !== true && (isStart || base?.isWhole === true);
      chains.set(above, { depth: 1 + (isStart ? 0 : (base?.depth ?? 0)), isWhole });
    }
  }
  return chains;
}

const nameOf = ({ commit_sha, sha256 }: MirrorBlob) => `${commit_sha} ${sha256}`;

/** Reads the note of each archive, then plans. */
export async function readPrunePlan(
  hub: Pick<MirrorHub, 'beginning'>,
  archives: readonly MirrorBlob[],
  rules: KeepRules,
): Promise<PrunePlan> {
  const known = new Map<MirrorBlob, Completeness>();
  for (const blob of archives) known.set(blob, await completenessOf(hub, blob));
  return planPrune(archives, rules, (blob) => known.get(blob) ?? 'unknown');
}

async function completenessOf(hub: Pick<MirrorHub, 'beginning'>, blob: MirrorBlob): Promise<Completeness> {
  if (blob.archive_kind === 'tree') return 'complete';
  const beginning = await hub.beginning(blob, NOTE_BYTES_MAX);
  const note = beginning === undefined ? undefined : readNote(beginning);
  if (note === undefined) return 'unknown';
  return note.isLastPart ? 'complete' : 'partial';
}
