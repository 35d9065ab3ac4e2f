/** Finds the objects of Git LFS that a repository's history names (git-lfs: docs/spec.md), in its own store. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countWithNoun } from '../../../text/count.ts';
import { formatBytes } from '../../progress.ts';
import type { Repository } from './repository.ts';
import { git } from './run-git.ts';

const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[a-z0-9.-]+ .*\n)*?oid sha256:([0-9a-f]{64})\nsize (\d+)\n/;
/** A pointer file is shorter (git-lfs specification). */
const POINTER_BYTES_MAX = 1024;

export interface LfsFound {
  readonly members: readonly {
    readonly name: string;
    readonly size: number;
    readonly sha256: string;
    readonly file: string;
  }[];
  readonly leftOut: readonly string[];
}

/** The objects named by commits that the refs reach and the tips do not. `isIncluded` false: only what is left out. */
export async function lfsObjects(
  { folder, gitFolder }: Repository,
  refs: readonly string[],
  tips: readonly string[],
  isIncluded: boolean,
): Promise<LfsFound> {
  if (!(await usesLfs(folder, gitFolder))) return { members: [], leftOut: [] };
  const pointers = await pointersOf(folder, refs, tips);
  const members: LfsFound['members'][number][] = [];
  const missing: string[] = [];
  let bytes = 0;
  for (const [sha256, size] of pointers) {
    const file = join(gitFolder, lfsPath(sha256));
    bytes += size;
    if (!isIncluded) continue;
    if (existsSync(file) && statSync(file).size === size) members.push({ name: `lfs/${sha256}`, size, sha256, file });
    else missing.push(sha256);
  }
  if (!isIncluded && pointers.size > 0) {
    return {
      members: [],
      leftOut: [`${countWithNoun(pointers.size, 'Git LFS object')} (${formatBytes(bytes)}); add --lfs`],
    };
  }
  const told = `${countWithNoun(missing.length, 'Git LFS object')} not on this machine; run \`git lfs fetch --all\``;
  return { members, leftOut: missing.length === 0 ? [] : [told] };
}

/** Path of an object below the git folder. */
export function lfsPath(sha256: string): string {
  return join('lfs', 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
}

async function usesLfs(folder: string, gitFolder: string): Promise<boolean> {
  if (existsSync(join(gitFolder, 'lfs', 'objects'))) return true;
  const found = await git(
    folder,
    ['grep', '--quiet', '-e', 'filter=lfs', 'HEAD', '--', ':(top,glob)**/.gitattributes'],
    {
      refusal: 'git grep failed.',
      accepts: [1],
    },
  );
  return found.code === 0;
}

/** Pointers by object, with the size of the object. */
async function pointersOf(
  folder: string,
  refs: readonly string[],
  tips: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const refusal = `reading the history of ${folder} failed.`;
  const input = [...refs, ...tips.map((tip) => `^${tip}`), ''].join('\n');
  const listed = await git(folder, ['rev-list', '--objects', '--no-object-names', '--stdin'], { input, refusal });
  const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)';
  const kinds = await git(folder, ['cat-file', format, '--buffer'], { input: listed.stdout, refusal });
  const small = kinds.stdout
    .toString('latin1')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, type, size]) => type === 'blob' && Number(size) < POINTER_BYTES_MAX)
    .map(([oid]) => oid ?? '');
  const { stdout } = await git(folder, ['cat-file', '--batch', '--buffer'], {
    input: `${small.join('\n')}\n`,
    refusal,
  });
  const found = new Map<string, number>();
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0x0a, at);
    const size = Number(stdout.toString('latin1', at, end).split(' ')[2]);
    if (end < 0 || Number.isNaN(size)) break;
    const [, sha256, bytes] = POINTER.exec(stdout.toString('utf8', end + 1, end + 1 + size)) ?? [];
    if (sha256 !== undefined) found.set(sha256, Number(bytes));
    at = end + 1 + size + 1;
  }
  return found;
}
