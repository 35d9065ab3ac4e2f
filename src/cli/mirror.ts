/** cairn mirror: init, push, list, latest, pull. A repository's commit goes encrypted to the hub and comes back checked. */
import type { MirrorBlob } from '../client/mirror-hub.ts';
import { formatBytes } from '../client/progress.ts';
import { limits } from '../limits.ts';
import { openMirror } from './mirror-access.ts';
import { initMirror } from './mirror-init.ts';
import { pullMirror } from './mirror-pull.ts';
import { pushMirror } from './mirror-push.ts';
import { readOptions } from './options.ts';
import { print } from './output.ts';
import { UsageError } from './usage-error.ts';

export async function mirrorCommand([action, ...argv]: readonly string[]): Promise<number> {
  switch (action) {
    case 'init':
      return await initMirror(argv);
    case 'push':
      return await pushMirror(argv);
    case 'list':
      return await list(argv);
    case 'latest':
      return await latest(argv);
    case 'pull':
      return await pullMirror(argv);
    default:
      throw new UsageError('mirror takes: init, push, list, latest or pull');
  }
}

async function list(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv, ['server', 'limit']);
  const { hub } = openMirror(options.optional('server'));
  const blobs = await hub.list(readCount(options.optional('limit')));
  if (options.json) print(JSON.stringify({ blobs }));
  else if (blobs.length === 0) print('Nothing is mirrored yet; run cairn mirror push in a repository.');
  else for (const blob of blobs) print(lineOf(blob));
  return 0;
}

async function latest(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv, ['server']);
  const { hub } = openMirror(options.optional('server'));
  const blob = await hub.latest();
  if (options.json) print(JSON.stringify({ latest: blob ?? null }));
  else print(blob === undefined ? 'Nothing is mirrored yet; run cairn mirror push in a repository.' : lineOf(blob));
  // A job that watches its backups wants to fail when there is none.
  return blob === undefined ? 1 : 0;
}

function lineOf({ commit_sha, uploaded_at, byte_size, uploaded_by }: MirrorBlob): string {
  return [commit_sha, uploaded_at, formatBytes(byte_size).padStart(10), uploaded_by ?? ''].join('  ').trimEnd();
}

function readCount(text: string | undefined): number {
  const count = text === undefined ? limits.clientListDefault : Number(text);
  if (!Number.isInteger(count) || count < 1 || count > limits.blobPageMax) {
    throw new UsageError(`--limit takes a whole number from 1 to ${limits.blobPageMax}`);
  }
  return count;
}
