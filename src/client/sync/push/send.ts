/** Sends pushes, and remembers them first: an answer may get lost, and then the next pull shows what it was. */
import { limits } from '../../../limits/service.ts';
import { foldCase } from '../../../text/fold-case.ts';
import type { ToolRefused } from '../../tool-refused.ts';
import type { CallHow } from '../../tools.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushArguments, PushedFile } from '../hub.ts';
import type { SyncSession } from '../session.ts';
import type { Sha } from '../state.ts';
import { rememberSent } from '../state-file.ts';

/** One push of a path, as the hub takes it. */
export interface Parcel {
  readonly path: FolderPath;
  readonly args: PushArguments;
}

/** Sends some files in one request; the outcomes are in their order. Throws ClientError when nobody knows. */
export async function send(
  { hub, folder, state }: SyncSession,
  parcels: readonly Parcel[],
  how: CallHow = {},
): Promise<(PushedFile | ToolRefused)[]> {
  rememberSent(folder, state, parcels.flatMap(sentBy));
  return await hub.push(
    parcels.map(({ args }) => args),
    how,
  );
}

/** What a push leaves at each path that it changes. */
function sentBy({ path, args }: Parcel): (readonly [FolderPath, Sha])[] {
  if (args['deleted'] === true) return [[path, null]];
  const from = args['from_path'] as FolderPath | undefined;
  // A move without bytes leaves what it builds on.
  const left = [path, (args['sha256'] ?? args['base_sha']) as string] as const;
  // Another spelling of a name takes the place of that name.
  return from === undefined || foldCase(from) === foldCase(path) ? [left] : [[from, null], left];
}

/** Groups what is sent so that a group has at most so many bytes, or is one file. What is sent is read when its group is asked for. */
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
