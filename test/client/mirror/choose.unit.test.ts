/** Which repository a restore means, and what a repository is called. */
import { expect, test } from 'vitest';
import { groupByRepository, groupHere, namedGroup, nameGoingOn, seriesOf } from '../../../src/client/mirror/choose.ts';
import { plainRemote, repositoryId, repositoryLabel } from '../../../src/client/mirror/git/repository-id.ts';
import type { MirrorBlob } from '../../../src/client/mirror/hub.ts';

const A = 'a'.repeat(64);
const B = `ab${'b'.repeat(62)}`;

const blob = (commit: string, id: string | null, label: string | null = null): MirrorBlob => ({
  commit_sha: commit,
  sha256: commit,
  byte_size: 1,
  uploaded_at: '2026-11-23T00:00:00.000Z',
  repository_id: id,
  repository_label: label,
});

const blobs = [blob('1', B, 'beta'), blob('2', A, 'fork'), blob('3', A, 'alpha'), blob('4', null), blob('5', null)];
const groups = groupByRepository(blobs);
const commits = (group: { readonly blobs: readonly MirrorBlob[] }) => group.blobs.map(({ commit_sha }) => commit_sha);
const here = (id: string, label: string, has: readonly string[] = []) => ({
  id,
  label,
  hasCommit: (commit: string) => has.includes(commit),
});

test.each([
  ['a label', 'beta', ['1']],
  ['a label of one of two forks', 'alpha', ['3']],
  ['the beginning of an id', 'aaaa', ['2', '3']],
  ['unknown', 'unknown', ['4', '5']],
])('[MIR-21] %s names a repository', (_, wanted, expected) => {
  expect(commits(namedGroup(groups, wanted))).toEqual(expected);
});

test.each([
  ['nothing', 'delta', /no backup of a repository delta. Backups exist of: beta \(abbb.*fork \(aaaa.*unknown/],
  ['an id of two characters', 'ab', /no backup of a repository ab/],
])('[MIR-21] a name of %s is refused with the repositories that exist', (_, wanted, sentence) => {
  expect(() => namedGroup(groups, wanted)).toThrow(sentence);
});

test('[MIR-21] a label of two repositories is refused with their ids', () => {
  const same = groupByRepository([blob('1', A, 'app'), blob('2', B, 'app')]);
  expect(() => namedGroup(same, 'app')).toThrow(
    /several repositories; pass the id. Backups exist of: app \(aaaa.*app \(abbb/,
  );
});

test.each([
  ['its id', here(B, 'renamed'), ['1']],
  ['its id and label, when a fork has the same id', here(A, 'alpha'), ['3']],
  ['its id, when no archive has its label', here(A, 'renamed'), ['2', '3']],
  ['a commit that it has, for archives without a repository', here('c'.repeat(64), 'old', ['5']), ['5']],
])('[MIR-21] a folder is recognized by %s', (_, repository, expected) => {
  expect(commits(groupHere(groups, repository))).toEqual(expected);
});

test('[MIR-21] outside a repository the only one is meant, and of several none', () => {
  expect(commits(groupHere(groupByRepository([blob('1', A)]), undefined))).toEqual(['1']);
  expect(() => groupHere(groups, undefined)).toThrow(/not a git repository/);
  expect(() => groupHere([], undefined)).toThrow(/no backup yet/);
  expect(() => groupHere(groups, here('d'.repeat(64), 'delta'))).toThrow(/no backup of this repository \(delta/);
});

test.each([
  ['a folder of another name, backups of one name', { label: 'x', isFolderName: true }, ['alpha'], 'alpha', []],
  ['a remote of another name', { label: 'x', isFolderName: false }, ['alpha'], 'x', ['alpha']],
  ['backups of several names', { label: 'x', isFolderName: true }, ['alpha', 'fork'], 'x', ['alpha', 'fork']],
  ['a name that has backups', { label: 'fork', isFolderName: true }, ['alpha', 'fork'], 'fork', []],
  ['no backup', { label: 'x', isFolderName: true }, [], 'x', []],
])('[MIR-21] the name of further backups: %s', (_, repository, names, label, others) => {
  const own = names.map((name, index) => blob(`${index}`, A, name));
  expect(nameGoingOn(repository, own)).toEqual({ label, others });
});

test('[MIR-23] a drill and a rewrap take each fork, the newest last, and archives of no repository once', () => {
  const named = (wanted?: string) => seriesOf(blobs, wanted).map((group) => [group.label, commits(group)]);
  expect(named()).toEqual([
    ['beta', ['1']],
    ['alpha', ['3']],
    ['fork', ['2']],
    [null, ['4', '5']],
  ]);
  expect(named('fork')).toEqual([['fork', ['2']]]);
  expect(named('aaaa')).toEqual([
    ['alpha', ['3']],
    ['fork', ['2']],
  ]);
});

test.each([
  ['https://user:secret@Example.org/team/app.git', 'example.org/team/app'],
  ['git@example.org:team/app.git', 'example.org/team/app'],
  ['ssh://git@example.org/team/app/', 'example.org/team/app'],
  ['/srv/git/app.git', '/srv/git/app'],
])('[MIR-21] the remote %s is %s, without a secret', (remote, expected) => {
  expect(plainRemote(remote)).toBe(expected);
});

test('[MIR-21] an id comes from the root commit; of a shallow clone from its remote, whatever the notation', () => {
  const root = 'f'.repeat(40);
  expect(repositoryId([root], [], 'https://example.org/app')).toBe(repositoryId([root], [], undefined));
  const shallow = repositoryId([], ['1'], 'https://example.org/app.git');
  expect(shallow).toBe(repositoryId([], ['2'], 'git@example.org:app'));
  expect(shallow).not.toBe(repositoryId([], ['2'], undefined));
  expect(repositoryId([], ['1', '2'], undefined)).toBe(repositoryId([], ['2', '1'], undefined));
});

test.each([
  ['https://example.org/team/app.git', '/home/me/checkout', 'app'],
  [undefined, '/home/me/checkout', 'checkout'],
  [undefined, '/srv/app.git', 'app'],
])('[MIR-21] the name of %s in %s is %s', (remote, folder, expected) => {
  expect(repositoryLabel(remote, folder)).toBe(expected);
});
