/**
 * Sends the bytes of a file to the hub as a conflict copy when the file cannot be renamed to one here: its folder may
 * not be written, the disk is full, or the disk does not accept the name.
 */
import { ToolRefused } from '../../tool-refused.ts';
import { type Content, Unreadable } from '../folder/file.ts';
import { checkFolderPath, type FolderPath, isBad } from '../folder/path.ts';
import { conflictName, decideFate } from '../plan/conflict-copy.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';
import { pushCall } from './arguments.ts';
import { sendUnrecorded } from './send.ts';

interface Refused {
  readonly path: FolderPath;
  /** The file, or a folder above it, whose name is taken on the hub. */
  readonly from: FolderPath;
  readonly content: Content;
}

/** More copies of one file with the same time than any program creates. */
const ATTEMPTS_MAX = 10;

/** Sends a copy unless the hub has it. Resolves with its name; undefined when the hub refuses that one as well. */
export async function sendCopy(step: SyncStep, refused: Refused): Promise<FolderPath | undefined> {
  const { hub, state } = step;
  const { copies } = step.next;
  const { path, content } = refused;
  const key = `${path}\0${content.sha256}`;
  const known = copies.get(key);
  if (known !== undefined) return known;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const copy = copyName(step, refused, attempt);
    if (isBad(copy)) return undefined;
    if (!(await hub.hasVersion(copy, content.sha256))) {
      if (state.base.has(copy) || state.waits.has(copy)) continue;
      // Not recorded as sent: the copy is not here, and the next pull brings it like another device's file.
      const [outcome] = await sendUnrecorded(step, [pushCall(step, copy, content, '')]);
      const isStored = !(outcome instanceof ToolRefused) || decideFate(copy, outcome).kind === 'pending';
      if (!isStored) return undefined;
    }
    copies.set(key, copy);
    return copy;
  }
  return undefined;
}

/** Sends copies of the files that differ from another one only in Unicode form and could not be renamed. */
export async function sendTwins(step: SyncStep, { twins, excludes }: Scan): Promise<void> {
  for (const [onDisk, path] of twins) {
    if (excludes(path)) continue;
    try {
      const content = step.folder.read(onDisk as FolderPath);
      if (content !== undefined) await sendCopy(step, { path, from: path, content });
    } catch (error) {
      // The scan lists it.
      if (!(error instanceof Unreadable)) throw error;
    }
  }
}

/** The time of the name is that of the file, so that a later sync finds the same copy. */
function copyName({ state }: Replica, { path, from, content }: Refused, attempt: number) {
  const nowMs = Math.min(Math.max(content.modifiedMs, 0), Date.now());
  return checkFolderPath(conflictName(from, { device: state.device_id, nowMs, attempt }) + path.slice(from.length));
}
