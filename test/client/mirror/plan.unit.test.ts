/** What a push uploads, how it is split, when a request is repeated, and what a note reveals. */
import { expect, test } from 'vitest';
import type { MirrorBlob } from '../../../src/client/mirror/hub.ts';
import { type Ref, refsAfter, refsChange, refsDigest } from '../../../src/client/mirror/manifest.ts';
import { readNote, writeNote } from '../../../src/client/mirror/note.ts';
import { type BackupState, chainOf, planBackup, planParts } from '../../../src/client/mirror/plan.ts';
import { type FailedAttempt, retryWaitMs } from '../../../src/client/mirror/retry.ts';
import { limits } from '../../../src/limits/service.ts';

const MiB = 1024 * 1024;

const blob = (sha256: string, base: string | null, byte_size = 1000, commit_sha = sha256): MirrorBlob => ({
  sha256,
  commit_sha,
  byte_size,
  base_sha256: base,
  uploaded_at: '',
});

/** Newest first. */
const chained = (...sizes: readonly number[]) =>
  sizes.map((size, index) => blob(String(index), index === 0 ? null : String(index - 1), size)).toReversed();

const state = (changed: Partial<BackupState> & { readonly blobs: readonly MirrorBlob[] }): BackupState => ({
  newest: changed.blobs[0],
  hasSameKey: true,
  hasSameChoices: true,
  isSame: false,
  isKnown: true,
  isForced: false,
  ...changed,
});

test.each([
  ['nothing on the hub', state({ blobs: [] }), 'first'],
  ['a base that is known', state({ blobs: chained(1000) }), 'increment'],
  ['the same refs', state({ blobs: chained(1000), isSame: true }), 'nothing'],
  ['the same refs, forced', state({ blobs: chained(1000), isSame: true, isForced: true }), 'forced'],
  [
    'the same refs for other recipients',
    state({ blobs: chained(1000), isSame: true, hasSameKey: false }),
    'other recipients',
  ],
  ['recipients that are not known', state({ blobs: chained(1000), hasSameKey: undefined }), 'unknown base'],
  [
    'the same refs and a key that is not known',
    state({ blobs: chained(9), isSame: true, hasSameKey: undefined }),
    'nothing',
  ],
  ['a base without LFS objects', state({ blobs: chained(1000), hasSameChoices: false }), 'other choices'],
  ['a base whose commits are not here', state({ blobs: chained(1000), isKnown: false }), 'unknown base'],
  ['an unreadable newest archive', state({ blobs: chained(1000), newest: undefined }), 'incomplete chain'],
  ['a chain with a hole', state({ blobs: [blob('2', '1'), blob('0', null)] }), 'incomplete chain'],
  [
    'a chain with a damaged archive',
    state({ blobs: [blob('1', '0'), { ...blob('0', null), quarantined: true }] }),
    'incomplete chain',
  ],
  ['a circle', state({ blobs: [blob('1', '0'), blob('0', '1')] }), 'incomplete chain'],
  ['increments as large as the full one', state({ blobs: chained(4 * MiB, 2 * MiB, 2 * MiB) }), 'increment'],
  ['increments larger than the full one', state({ blobs: chained(4 * MiB, 2 * MiB, 2 * MiB, 1) }), 'long chain'],
  ['small increments larger than a tiny full one', state({ blobs: chained(10, 20, 30) }), 'increment'],
  [
    'as many increments as allowed',
    state({ blobs: chained(MiB, ...Array<number>(limits.backupIncrementsMax).fill(1)) }),
    'long chain',
  ],
  [
    'one increment less',
    state({ blobs: chained(MiB, ...Array<number>(limits.backupIncrementsMax - 1).fill(1)) }),
    'increment',
  ],
  [
    'parts of the full one, which are no increments',
    state({ blobs: [blob('2', '1', 3 * MiB, 'y'), blob('1', '0', 2 * MiB, 'x'), blob('0', null, 2 * MiB, 'x')] }),
    'increment',
  ],
])('[MIR-22] with %s a push is decided', (_, given, expected) => {
  const plan = planBackup(given);
  expect(plan.kind === 'full' ? plan.reason : plan.kind).toBe(expected);
});

test('[MIR-22] a chain is ordered from the full backup on', () => {
  const blobs = chained(1, 1, 1);
  expect(chainOf(blobs, blobs[0] ?? blob('', null))?.map(({ sha256 }) => sha256)).toEqual(['0', '1', '2']);
});

test.each([
  ['nothing', [], [[]]],
  [
    'what fits',
    [
      ['a', 3],
      ['b', 7],
    ],
    [['a 0+3', 'b 0+7']],
  ],
  ['an empty member', [['a', 0]], [['a 0+0']]],
  [
    'a member that fills a part',
    [
      ['a', 10],
      ['b', 1],
    ],
    [['a 0+10'], ['b 0+1']],
  ],
  [
    'a member across parts',
    [
      ['a', 4],
      ['b', 18],
    ],
    [['a 0+4', 'b 0+6 #1'], ['b 6+10 #2'], ['b 16+2 #3']],
  ],
] as const)('[MIR-22] %s is split over parts of 10 bytes', (_, members, expected) => {
  const parts = planParts(
    members.map(([name, size]) => ({ name, size })),
    10,
  );
  const shown = parts.map((pieces) =>
    pieces.map(
      ({ name, offset, size, number }) => `${name} ${offset}+${size}${number === undefined ? '' : ` #${number}`}`,
    ),
  );
  expect(shown).toEqual(expected);
});

const ref = (name: string, digit: string, target: string | null = null): Ref => [
  `refs/${name}`,
  digit.repeat(40),
  target,
];

test('[MIR-22] the change of refs gives the refs after it, whatever changed', () => {
  const before = [
    ref('heads/a', '1'),
    ref('heads/b', '2'),
    ref('heads/gone', '3'),
    ref('remotes/o/HEAD', '1', 'refs/heads/a'),
  ];
  const after = [
    ref('heads/a', '4'),
    ref('heads/b', '2'),
    ref('heads/b2', '2'),
    ref('remotes/o/HEAD', '2', 'refs/heads/b'),
  ];
  const change = refsChange(before, after);
  expect(change.removed).toEqual(['refs/heads/gone']);
  expect(change.set.map(([name]) => name)).toEqual(['refs/heads/a', 'refs/heads/b2', 'refs/remotes/o/HEAD']);
  expect(refsDigest(refsAfter(before, { refs: { is_complete: false, ...change } }))).toBe(refsDigest(after));
  expect(refsDigest(refsAfter(before, { refs: { is_complete: true, set: after, removed: [] } }))).toBe(
    refsDigest(after),
  );
});

test('[MIR-22] a note tells who knows recipients and refs whether they are the same, and nobody else anything', () => {
  const recipients = ['age1b', 'age1a'];
  const words = writeNote({ recipients, state: 'refs', choices: 'lfs', part: 1, parts: 2 });
  const note = readNote(Buffer.from(`age-encryption.org/v1\n-> X25519 x\ny\n-> ${words.join(' ')}\n\n--- mac\nbytes`));
  expect(note?.isFor(['age1a', 'age1b'])).toBe(true);
  expect(note?.isFor(['age1a'])).toBe(false);
  expect([note?.hasChoices('lfs'), note?.hasChoices('')]).toEqual([true, false]);
  expect([note?.isOf('refs'), note?.isOf('other'), note?.isLastPart]).toEqual([true, false, false]);
  const other = writeNote({ recipients, state: 'refs', choices: 'lfs', part: 1, parts: 2 });
  expect(words.filter((word) => other.includes(word) && word.length > 3)).toEqual(['cairn-backup']);
  expect(
    readNote(Buffer.from('age-encryption.org/v1\n-> scrypt x 18\ny\n--- mac\n-> cairn-backup 1 a b c 1/1\n')),
  ).toBeUndefined();
});

const failed = (changed: Partial<FailedAttempt>): FailedAttempt => ({
  attempt: 1,
  attemptsMax: 6,
  nowMs: 0,
  random: 1,
  ...changed,
});

test.each([
  ['200', { status: 200 }, undefined],
  ['a refusal', { status: 422 }, undefined],
  ['a full quota', { status: 507 }, undefined],
  ['overload', { status: 503 }, 1000],
  ['overload, the third time', { status: 503, attempt: 3 }, 4000],
  ['overload, the last time', { status: 503, attempt: 6 }, undefined],
  ['Retry-After in seconds', { status: 503, retryAfter: '7' }, 7000],
  ['Retry-After as a date', { status: 429, retryAfter: 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9000],
  ['Retry-After in the past', { status: 429, retryAfter: 'Thu, 01 Jan 1970 00:00:00 GMT', nowMs: 5000 }, 0],
  ['Retry-After that nobody waits for', { status: 503, retryAfter: '86400' }, undefined],
  ['Retry-After that is neither', { status: 503, retryAfter: 'soon' }, 1000],
  ['a cut line', { code: 'ECONNRESET' }, 1000],
  ['a timeout', {}, 1000],
  ['an untrusted certificate', { code: 'CERT_HAS_EXPIRED' }, undefined],
  ['an unknown host', { code: 'ENOTFOUND' }, undefined],
] as const)('[MIR-24] after %s a request is repeated in time or not at all', (_, given, expected) => {
  expect(retryWaitMs(failed(given))).toBe(expected);
});
