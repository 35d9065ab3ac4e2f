/** Tells whether the disk has room for a download that is collected in `.cairn/incoming`. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { formatBytes } from '../../progress.ts';
import { codeOf, lookIfReadable } from './file.ts';
import { removeIncoming } from './incoming.ts';
import { Unwritable } from './unwritable.ts';

/** Bytes of a disk block in `Stats.blocks`. */
const BLOCK_BYTES = 512;

/**
 * Throws Unwritable when the disk has no room for what a part lacks of its file. The part is removed then: what cannot be
 * completed would keep the disk full.
 */
export async function checkDiskRoom(part: string, bytesTotal: number): Promise<void> {
  if (await hasRoom(part, bytesTotal)) return;
  removeIncoming(part);
  throw noRoom('ENOSPC', bytesTotal);
}

/** The reason for the user when the disk did not take a part of a download, which is removed then; otherwise undefined. */
export function fullDisk(error: unknown, part: string, bytesTotal: number): Unwritable | undefined {
  const code = codeOf(error);
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  removeIncoming(part);
  return noRoom(code, bytesTotal);
}

function noRoom(code: string, bytesTotal: number): Unwritable {
  return new Unwritable(`The disk is full (${code}); it needs ${formatBytes(bytesTotal)} of free space.`);
}

/** True too where the disk does not tell: writing will. */
async function hasRoom(part: string, bytesTotal: number): Promise<boolean> {
  const bytesHere = (lookIfReadable(part)?.blocks ?? 0) * BLOCK_BYTES;
  const disk = await statfs(dirname(part)).catch(() => undefined);
  if (disk === undefined || disk.blocks === 0) return true;
  return disk.bavail * disk.bsize >= bytesTotal - bytesHere + limits.clientFreeBytesMin;
}
