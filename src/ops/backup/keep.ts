/** Removes backups that newer ones replaced: all but the newest ones of the same hub, and what those are based on. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasJournal } from '../../store/copies/journal.ts';
import { type CopyManifest, readCopyManifest } from '../../store/copies/manifest.ts';

/**
 * Removes all but the `count` newest backups without damage of the hub that are next to `folder`, and those made since
 * them. Returns the names of the removed ones. Everything else stays. Removes nothing when the backup in `folder` contains damage.
 */
export function keepNewest(folder: string, count: number): string[] {
  const parent = dirname(resolve(folder));
  const own = readCopyManifest(folder);
  if (own.damaged !== undefined) return [];
  const all = readdirSync(parent)
    .map((name) => ({ name, manifest: backupOf(join(parent, name)) }))
    // After a restore a hub has another epoch, and goes its own way.
    .filter((found): found is Backup => found.manifest !== undefined && found.manifest.epoch === own.epoch)
    .toSorted((a, b) => b.manifest.made_at.localeCompare(a.manifest.made_at));
  // Damaged ones do not count: copies from before the damage stay. Those between are kept with them.
  const whole = all.filter(({ manifest }) => manifest.damaged === undefined);
  const oldest = whole.slice(0, count).at(-1)?.manifest.made_at ?? own.made_at;
  const newest = all.filter(({ manifest }) => manifest.made_at >= oldest).map(({ name }) => name);
  const kept = new Set([basename(resolve(folder)), ...newest]);
  // The names at the end of the set are walked, too: a chain is kept down to its full backup.
  for (const name of kept) {
    const since = all.find((backup) => backup.name === name)?.manifest.since;
    if (since !== undefined) kept.add(since.folder);
  }
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
  if (folder.includes('.partial-') || hasJournal(folder)) return undefined;
  try {
    return readCopyManifest(folder);
  } catch {
    // No backup, or one that this version cannot read: not ours to remove.
    return undefined;
  }
}
