/**
 * Prepares a conflict for a merge tool as git does, in four files: BASE, LOCAL, REMOTE and MERGED. They lie in `.cairn`, so no
 * watch sends what is half merged. The result is taken only if neither side changed meanwhile.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { dividedName } from '../../limits/copy-name.ts';
import { ClientError } from '../client-error.ts';
import { nextCommand } from '../next-command.ts';
import { ToolRefused } from '../tool-refused.ts';
import { conflictsOf } from './base/state.ts';
import { entryNameOf, type FolderPath } from './folder/path.ts';
import { applyDiff } from './plan/apply-diff.ts';
import { readAs } from './remote-record.ts';
import type { Replica } from './replica.ts';
import { currentOf, resolveConflict } from './resolve.ts';
import type { Round } from './round.ts';
import { utf8TextOf } from './run/arguments.ts';
import { mergeOnHub } from './run/reconcile.ts';

export interface MergeFiles {
  readonly path: FolderPath;
  /** Absolute paths, by the names that git gives them. */
  readonly files: Readonly<Record<'BASE' | 'LOCAL' | 'REMOTE' | 'MERGED', string>>;
  /** What MERGED holds at the beginning, where both sides cannot be merged without a person: with markers. Otherwise null. */
  readonly marked: string | null;
  /** The hashes of both sides. */
  readonly here: string;
  readonly there: string;
  readonly remove: () => void;
}

const diffSchema = z.object({ diff: z.string().nullable() });
/** Lines that git and the hub write around both sides. */
const MARKERS = /^(<{7}|>{7})( |$)/m;

/** Writes the four files of a conflict. Throws ClientError when it has none, or is not text on both sides. */
export async function writeMergeFiles(replica: Replica, path: FolderPath): Promise<MergeFiles> {
  const { folder, state } = replica;
  if (!conflictsOf(state).includes(path)) {
    throw new ClientError(`${path} has no conflict; \`${nextCommand(folder.root.path, 'sync status')}\` lists them.`);
  }
  const mine = folder.read(path);
  const { side } = await currentOf(replica, path);
  const local = mine && utf8TextOf(mine.bytes);
  const remote = side?.bytes && utf8TextOf(side.bytes);
  if (mine === undefined || side === undefined || local === undefined || remote === undefined) {
    throw new ClientError(`${path} is not text on both sides; choose with cairn sync resolve --keep mine or theirs.`);
  }
  const agreed = state.base.get(path)?.sha256;
  const { content, has_conflicts: isMarked } = await mergeOnHub(replica, path, local, agreed);
  if (content === null) throw new ClientError(`${path} cannot be merged; choose --keep mine or --keep theirs.`);
  const base = agreed === undefined ? undefined : await textOfVersion(replica, path, remote, agreed);
  const place = folder.own(join('merge', crypto.randomUUID()));
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string) => {
    const file = join(place, nameOf(path, name));
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  return {
    path,
    // Without a version on which both sides agreed, git gives an empty one too.
    files: {
      BASE: write('BASE', base ?? ''),
      LOCAL: write('LOCAL', local),
      REMOTE: write('REMOTE', remote),
      MERGED: write('MERGED', content),
    },
    marked: isMarked ? content : null,
    here: mine.sha256,
    there: side.sha256,
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Takes what the tool left in MERGED as the file here, and settles the conflict with it. Throws ClientError. */
export async function takeMerged(replica: Replica, { path, files, marked, here, there }: MergeFiles): Promise<Round> {
  const bytes = readFileSync(files.MERGED);
  const text = bytes.toString('utf8');
  if (text === marked || (marked !== null && MARKERS.test(text))) {
    throw new ClientError(`${path} is not merged: the file that the tool left has conflict markers. Nothing changed.`);
  }
  const { side } = await currentOf(replica, path);
  if (side?.sha256 !== there || replica.folder.put(path, bytes, here) === false) {
    throw new ClientError(`${path} changed while it was merged. Nothing was taken; run the command again.`);
  }
  return await resolveConflict(replica, path, 'mine');
}

/** The text of an earlier version: the hub tells how it differs from the current one. Undefined when it is no longer kept. */
async function textOfVersion(
  { hub }: Replica,
  path: FolderPath,
  current: string,
  sha256: string,
): Promise<string | undefined> {
  try {
    const { diff } = readAs(diffSchema, (await hub.call('sync_diff', { path, sha256 })).structured);
    return diff === null ? undefined : applyDiff(current, diff);
  } catch (error) {
    if (error instanceof ToolRefused) return undefined;
    throw error;
  }
}

/** `notes_LOCAL.md`: a tool finds the language by the end of the name. */
function nameOf(path: string, name: string): string {
  const [stem, ending] = dividedName(entryNameOf(path));
  return `${stem}_${name}${ending}`;
}
