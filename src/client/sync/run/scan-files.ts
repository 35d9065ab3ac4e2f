/** Scans the folder as a step of a sync: puts names into their form, and takes over what the scan tells about the state. */
import type { Wait } from '../base/state.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { changesOfParticipation } from '../plan/left-out.ts';
import type { SyncStep } from '../round.ts';
import { rescanPaths, type Scan, scanFolder } from '../scan/scan.ts';
import { keepCopy } from './keep-copy.ts';

const TAKES_PART_AGAIN: Wait = {
  kind: 'hub',
  remote: null,
  local: null,
  conflictId: null,
  reason: 'It takes part again and is compared with the hub by the next sync.',
};

/**
 * Scans the folder, reusing hashes that are still valid; after the first scan, only what was written here or noticed since,
 * where that is known to be all. Renames files to NFC on the disk, so that one name means one file afterwards. Throws
 * RootGone.
 */
export async function scanFiles(step: SyncStep): Promise<Scan> {
  const { folder, state, tell, listener, next } = step;
  const paths = new Set(folder.touched);
  folder.touched.clear();
  const noticed = listener?.takeNoticed();
  for (const path of noticed ?? []) paths.add(path);
  const { scan: before } = next;
  next.scan = undefined;
  const isPart = before !== undefined && noticed !== 'all';
  const found = (isPart ? await scanPart(step, before, paths) : undefined) ?? (await scanAll(step));
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

async function scanPart(
  { folder, state, listener }: SyncStep,
  before: Scan,
  paths: ReadonlySet<string>,
): Promise<Scan | undefined> {
  const onFolder = (path: string) => {
    if (path !== '') listener?.onFolder(path);
  };
  return await rescanPaths(folder, state, { before, paths, onFolder, comesBack: listener !== undefined });
}

async function scanAll(step: SyncStep): Promise<Scan> {
  const { folder, state, listener } = step;
  const found = await scanFolder(folder, state, listener?.onFolder, listener !== undefined);
  const why = 'another file differs from it only in Unicode form';
  const copied = [...found.twins].filter(([from, of]) => keepCopy(step, { from, of, why }));
  return copied.length > 0 ? await scanFolder(folder, state, listener?.onFolder, listener !== undefined) : found;
}

/** Takes over what a scan tells about the state, and which paths may differ from it. */
function noteInState({ state, next }: SyncStep, found: Scan): void {
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
    next.due.add(path);
    if (state.waits.get(path)?.kind !== 'conflict') state.wait(path, TAKES_PART_AGAIN);
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
