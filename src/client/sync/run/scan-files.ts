/** Scans the folder as a step of a sync: puts names into their form, and takes over what the scan tells about the state. */
import type { Wait } from '../base/state.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { changesOfParticipation } from '../plan/left-out.ts';
import type { SyncStep } from '../round.ts';
import { type Scan, scanFolder } from '../scan/scan.ts';
import { keepCopy } from './keep-copy.ts';

const TAKES_PART_AGAIN: Wait = {
  kind: 'hub',
  remote: null,
  local: null,
  conflictId: null,
  reason: 'It takes part again and is compared with the hub by the next sync.',
};

/**
 * Scans the folder, reusing hashes that are still valid. Renames files to NFC on the disk, so that one name means one
 * file afterwards. Throws RootGone.
 */
export async function scanFiles(step: SyncStep): Promise<Scan> {
  const { folder, state, tell, listener } = step;
  let found = await scanFolder(folder, state, listener?.onFolder);
  const why = 'another file differs from it only in Unicode form';
  const copied = [...found.twins].filter(([from, of]) => keepCopy(step, { from, of, why }));
  if (copied.length > 0) found = await scanFolder(folder, state, listener?.onFolder);
  for (const [path, here] of found.otherForms) {
    const problem = putIntoNfc(folder, here, path);
    if (problem === undefined) {
      tell({ verb: 'renamed', path, note: 'its name now has the Unicode form that all devices share' });
      continue;
    }
    found.files.delete(path);
    found.skipped.set(path, problem);
  }
  // A file is written or sent right after its last change, when its metadata tells nothing yet: without the later one,
  // every scan would hash it.
  for (const [path, { sha256, seen }] of found.files) {
    const record = state.base.get(path);
    if (record?.sha256 === sha256 && record.seen !== seen) state.setBase(path, { ...record, seen });
  }
  for (const [path, record] of changesOfParticipation(found, state)) {
    state.setBase(path, record);
    if (record !== undefined) continue;
    step.next.due.add(path);
    if (state.waits.get(path)?.kind !== 'conflict') state.wait(path, TAKES_PART_AGAIN);
  }
  step.next.scan = found;
  state.setMounts(found.mounts);
  listener?.onScan(found);
  return found;
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
