/** Removes backups that newer ones replaced: all but those that the rules keep, and what these are based on. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasJournal } from '../../store/copies/journal.ts';
import { type CopyManifest, readCopyManifest } from '../../store/copies/manifest.ts';
import { isPartial } from '../../store/copies/partial.ts';
import { type KeepRules, retained } from '../../time/retention.ts';

/**
 * Removes the backups of the hub next to `folder` that no rule keeps, and returns their names, newest first. Everything
 * else stays. Removes nothing when the backup in `folder` contains damage.
 */
export function removeOld(folder: string, rules: KeepRules): string[] {
  const parent = dirname(resolve(folder));
  const own = readCopyManifest(folder);
  if (own.damaged !== undefined) return [];
  const all = readdirSync(parent)
    .map((name) => ({ name, manifest: backupOf(join(parent, name)) }))
    // After a restore a hub has another epoch, and goes its own way.
    .filter((found): found is Backup => found.manifest !== undefined && found.manifest.epoch === own.epoch)
    .map(({ name, manifest: { made_at: at, since, damaged } }) => ({
      name,
      madeMs: Date.parse(at),
      since: since?.folder,
      isWhole: damaged === undefined,
    }))
    .toSorted((a, b) => b.madeMs - a.madeMs);
  const kept = retained(all, basename(resolve(folder)), rules);
  const old = all.map(({ name }) => name).filter((name) => !kept.has(name));
  for (const name of old) rmSync(join(parent, name), { recursive: true });
  return old;
}

interface Backup {
  readonly name: string;
  readonly manifest: CopyManifest;
}

/** The manifest of a finished backup; undefined for anything else, such as the folder of `cairn follow`. */
function backupOf(folder: string): CopyManifest | undefined {
  if (isPartial(folder) || hasJournal(folder)) return undefined;
  try {
    return readCopyManifest(folder);
  } catch {
    // No backup, or one that this version cannot read: not ours to remove.
    return undefined;
  }
}
