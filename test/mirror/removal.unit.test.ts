/** Which archives may be removed. Each is written as `name < base`, oldest first. */
import { expect, test } from 'vitest';
import { removalRefused, type StoredArchive } from '../../src/mirror/removal/decide.ts';

function parsed(text: string, index: number): StoredArchive {
  const [own = '', base] = text.split(' < ');
  const [group = '', sha256 = '', commitSha = sha256] = own.split('/');
  return { group, sha256, commitSha, base: base ?? null, sequence: index + 1 };
}

const CHAIN = ['a/1', 'a/2 < 1', 'a/3 < 2', 'a/4', 'a/5 < 4'];

test.each<[what: string, archives: readonly string[], leaving: readonly string[], refused: RegExp | undefined]>([
  ['a whole old chain', CHAIN, ['1', '2', '3'], undefined],
  ['the end of an old chain', CHAIN, ['3'], undefined],
  ['nothing that exists', CHAIN, ['9'], undefined],
  ['the beginning of a chain', CHAIN, ['1'], /needed to restore the archive of commit 2/],
  ['the middle of a chain', CHAIN, ['2'], /needed to restore the archive of commit 3/],
  ['the newest archive', CHAIN, ['5'], /newest archive of its repository/],
  ['the base of the newest', CHAIN, ['4'], /needed to restore the archive of commit 5/],
  ['everything', CHAIN, ['1', '2', '3', '4', '5'], /newest archive/],
  ['the newest of one of two repositories', ['a/1', 'b/2'], ['1'], /newest archive/],
  ['an older one without a repository', ['unknown/1', 'unknown/2'], ['1'], undefined],
  ['one of two commits with the same bytes', ['a/1/x', 'a/1/y', 'a/2 < 1'], ['1/x'], undefined],
  ['both commits with the same bytes', ['a/1/x', 'a/1/y', 'a/2 < 1'], ['1/x', '1/y'], /needed to restore/],
  ['beside a chain whose base was lost before', ['a/1', 'a/2 < 0', 'a/3'], ['1'], undefined],
])('[MIR-28] of a repository, %s is removed or refused', (_, archives, leaving, refused) => {
  const names = leaving.map((name) => {
    const [sha256 = '', commitSha = sha256] = name.split('/');
    return { sha256, commitSha };
  });
  const found = removalRefused(archives.map(parsed), names);
  if (refused === undefined) expect(found).toBeUndefined();
  else expect(found?.because).toMatch(refused);
});
