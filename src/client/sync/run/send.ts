/** Sends pushes, and records them first: if the answer is lost, the next pull shows whether they were accepted. */
import { limits } from '../../../limits/service.ts';
import { foldCase } from '../../../text/fold-case.ts';
import { ToolRefused } from '../../tool-refused.ts';
import type { CallHow } from '../../tools.ts';
import type { Sha } from '../base/state.ts';
import { withChunks, withoutProgress } from '../chunks/send-chunks.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushCall, PushedFile } from '../hub.ts';
import type { Replica } from '../replica.ts';

/** One push of a path, with the arguments for the hub. */
export interface Parcel {
  readonly path: FolderPath;
  readonly args: PushCall;
}

/**
 * Sends some files in one request; the outcomes are in the same order. Throws ClientError when the outcome is unknown.
 */
export async function sendParcels(
  replica: Replica,
  parcels: readonly Parcel[],
  how: CallHow = {},
): Promise<(PushedFile | ToolRefused)[]> {
  replica.state.rememberSent(parcels.flatMap(sentBy));
  return await sendUnrecorded(
    replica,
    parcels.map(({ args }) => args),
    how,
  );
}

/** The same without a record: for what is not the file here. */
export async function sendUnrecorded(
  replica: Replica,
  calls: readonly PushCall[],
  how: CallHow = {},
): Promise<(PushedFile | ToolRefused)[]> {
  const [only] = calls;
  // A large file is sent alone.
  if (only === undefined || calls.length > 1) return await replica.hub.push(calls, how);
  try {
    const call = await withChunks(replica, only, how);
    if (call === only) return await replica.hub.push([call], how);
    const outcomes = await replica.hub.push([call], withoutProgress(how));
    const isMissing = outcomes.some((one) => one instanceof ToolRefused && one.data['field'] === 'content');
    if (!isMissing) return outcomes;
    // The hub dropped chunks that no file had for a day: those are sent again.
    return await replica.hub.push([await withChunks(replica, only, how)], withoutProgress(how));
  } catch (error) {
    // Its chunks were refused, as the file would be.
    if (error instanceof ToolRefused && !error.isHubFailure) return [error];
    throw error;
  }
}

/** The hash that a push leaves at each path it changes. */
function sentBy({ path, args }: Parcel): (readonly [FolderPath, Sha])[] {
  if (args['deleted'] === true) return [[path, null]];
  const from = args['from_path'] as FolderPath | undefined;
  // A move without bytes keeps the hash of its base.
  const left = [path, (args['sha256'] ?? args['base_sha']) as string] as const;
  // A new spelling replaces the name itself.
  return from === undefined || foldCase(from) === foldCase(path) ? [left] : [[from, null], left];
}

/** Groups parcels by total bytes; a larger parcel is a group alone. Reads parcels lazily, one group at a time. */
export function* portionsOf<T extends { readonly bytes: number }>(
  parcels: Iterable<T>,
  bytesMax: number,
): Generator<T[]> {
  let portion: T[] = [];
  let bytes = 0;
  for (const parcel of parcels) {
    const isFull = portion.length >= limits.clientPushFiles || bytes + parcel.bytes > bytesMax;
    if (portion.length > 0 && isFull) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(parcel);
    bytes += parcel.bytes;
  }
  if (portion.length > 0) yield portion;
}
