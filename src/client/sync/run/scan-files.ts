/** Scans the folder as a step of a sync: puts names into their form, and takes over what the scan tells about the state. */
import { limits } from '../../../limits/service.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { changesOfParticipation } from '../plan/left-out.ts';
import { compareNext, type SyncStep } from '../round.ts';
import { FullScan, mayScanPaths, rescanPaths, type Scan, type ScanHow, scanFolder } from '../scan/scan.ts';
import { keepCopy } from './keep-copy.ts';

/**
 * Scans the folder, reusing hashes that are still valid; after the first scan, only what was written here or noticed since,
 * where that is known to be all. Renames files to NFC on the disk, so that one name means one file afterwards. `goesOn`: takes
 * time for a scan of everything that is due, unless paths are known that changed: these come first. Throws RootGone.
 */
export async function scanFiles(step: SyncStep, { goesOn = false } = {}): Promise<Scan> {
  const { folder, state, tell, listener, next } = step;
  const found = await scanWhatIsDue(step, goesOn);
  for (const [path, here] of found.otherForms) {
    const problem = putIntoNfc(folder, here, path);
    if (problem === undefined) {
      tell({ verb: 'renamed', path, note: 'its name now has the Unicode form that all devices share' });
      continue;
    }
    found.files.delete(path);
    found.skipped.set(path, problem);
  }
  noteInState(step, found);
  next.scan = found;
  state.setMounts([...found.mounts]);
  listener?.onScan(found);
  return found;
}

async function scanWhatIsDue(step: SyncStep, goesOn: boolean): Promise<Scan> {
  const { folder, state, listener, next } = step;
  const { scan: before, fullScan } = next;
  next.scan = undefined;
  next.fullScan = undefined;
  const paths = new Set<string>();
  // Before the first one, nothing is known; and only a scan of everything makes up for missing reports.
  if (!takeChanged(step, paths) || before === undefined) return await scanAll(step);
  const isDue = fullScan !== undefined || (goesOn && listener?.isScanDue() === true);
  if (isDue && !mayScanPaths(folder, state, before)) return await scanAll(step);
  let full = isDue ? (fullScan ?? 'due') : undefined;
  if (full instanceof FullScan) full.lookAgain(paths);
  // After such paths it gets some time in any case: a program may write without end.
  if (full !== undefined && goesOn && (paths.size === 0 || fullScan !== undefined)) {
    full = full === 'due' ? new FullScan(folder, state, howToScan(step)) : full;
    const found = await full.goOn(isWantedBy(listener, paths.size > 0));
    if (found === 'outdated') return await scanAll(step);
    if (found !== 'left') return await withoutTwins(step, found);
    if (!takeChanged(step, paths)) return await scanAll(step);
    full.lookAgain(paths);
  }
  next.fullScan = full;
  const part = await rescanPaths(folder, state, { before, paths, ...howToScan(step) });
  if (part !== undefined) return part;
  next.fullScan = undefined;
  return await scanAll(step);
}

/** Adds the paths that were written here or noticed since this was last called. False when some may be missing. */
function takeChanged({ folder, listener }: SyncStep, paths: Set<string>): boolean {
  for (const path of folder.touched) paths.add(path);
  folder.touched.clear();
  const noticed = listener?.takeNoticed();
  if (noticed === 'all') return false;
  for (const path of noticed ?? []) paths.add(path);
  return true;
}

/**
 * Whether to leave a scan of everything for changes whose paths are known, once a program had time to save in several steps.
 * `isNamed`: there are some already.
 */
function isWantedBy(listener: SyncStep['listener'], isNamed: boolean): () => boolean {
  let sinceMs: number | undefined;
  return () => {
    // What is named is not all: only the scan tells the rest.
    if (listener?.isMissing() !== false || !(isNamed || listener.isOverdue())) return false;
    sinceMs ??= performance.now();
    return performance.now() - sinceMs >= limits.clientQuietMs;
  };
}

const howToScan = ({ listener }: SyncStep): ScanHow => ({
  onFolder: listener?.onFolder,
  comesBack: listener !== undefined,
});

async function scanAll(step: SyncStep): Promise<Scan> {
  return await withoutTwins(step, await scanFolder(step.folder, step.state, howToScan(step)));
}

/** A scan of everything, after files that differ from others only in Unicode form were copied to names of their own. */
async function withoutTwins(step: SyncStep, found: Scan): Promise<Scan> {
  const why = 'another file differs from it only in Unicode form';
  const copied = [...found.twins].filter(([from, of]) => keepCopy(step, { from, of, why }));
  return copied.length > 0 ? await scanFolder(step.folder, step.state, howToScan(step)) : found;
}

/** Takes over what a scan tells about the state, and which paths may differ from it. */
function noteInState(step: SyncStep, found: Scan): void {
  const { state } = step;
  const { files, looked } = found;
  for (const path of looked ?? files.keys()) {
    const file = files.get(path);
    const record = state.base.get(path);
    const isEqual = file !== undefined && record?.sha256 === file.sha256 && record.executable === file.executable;
    // A file is written or sent right after its last change, when its metadata tells nothing yet: without the later one,
    // every scan would hash it.
    if (file !== undefined && record?.sha256 === file.sha256 && record.seen !== file.seen) {
      state.setBase(path, { ...record, seen: file.seen });
    }
    if (!isEqual) state.doubt(path);
  }
  if (looked === undefined) for (const path of state.base.keys()) if (!files.has(path)) state.doubt(path);
  for (const [path, record] of changesOfParticipation(found, state, looked)) {
    state.setBase(path, record);
    if (record !== undefined) continue;
    compareNext(step, path);
  }
}

/** Renames a file to NFC. Returns undefined, or the reason for the user when it failed. */
function putIntoNfc(folder: SyncedFolder, here: string, path: FolderPath): string | undefined {
  try {
    return folder.rename(here, path) ? undefined : 'Another file has this name in another Unicode form.';
  } catch (error) {
    // The disk rejects the new name, or the path is not writable: the other files are synced.
    return `Its name cannot be put into the Unicode form NFC: ${(error as Error).message}`;
  }
}
