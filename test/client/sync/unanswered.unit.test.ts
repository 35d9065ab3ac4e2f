/** What a push without an answer means for a change of the hub: a row for each case. */
import { expect, test } from 'vitest';
import type { Sha } from '../../../src/client/sync/base/state.ts';
import { hangsOnSent, searchedTo } from '../../../src/client/sync/plan/unanswered.ts';

const NONE = undefined;
const LATER = 200;

/** What is here, on the hub, agreed on (stored at 100), and sent without an answer. */
test.each<[string, string | undefined, string | undefined, string | undefined, Sha[], boolean]>([
  ['nothing was sent', 'old', 'theirs', 'old', [], false],
  ['taken back, and changed elsewhere', 'old', 'theirs', 'old', ['sent'], true],
  ['taken back, and deleted elsewhere', 'old', NONE, 'old', ['sent'], true],
  ['taken back here and elsewhere', 'old', 'old', 'old', ['sent'], false],
  ['left as it was sent, and changed elsewhere', 'sent', 'theirs', 'old', ['sent'], true],
  ['left as it was sent, and deleted elsewhere', 'sent', NONE, 'old', ['sent'], true],
  ['left as it was sent, and taken back elsewhere', 'sent', 'old', 'old', ['sent'], true],
  ['left as it was sent, and made alike elsewhere', 'sent', 'sent', 'old', ['sent'], false],
  ['edited again: both sides changed in any case', 'new', 'theirs', 'old', ['sent'], false],
  ['edited again, and deleted elsewhere: it stays in any case', 'new', NONE, 'old', ['sent'], false],
  ['edited again, and taken back elsewhere', 'new', 'old', 'old', ['sent'], true],
  ['edited again and made alike elsewhere', 'new', 'new', 'old', ['sent'], false],
  ['edited back to one of two that were sent', 'first', 'theirs', 'old', ['first', 'second'], true],
  ['sent and deleted, and changed elsewhere: it comes back in any case', NONE, 'theirs', 'old', ['sent'], false],
  ['sent and deleted, and deleted elsewhere', NONE, NONE, 'old', ['sent'], false],
  ['sent and deleted, and taken back elsewhere', NONE, 'old', 'old', ['sent'], true],
  ['deleted, and changed elsewhere: it comes back in any case', NONE, 'theirs', 'old', [null], false],
  ['deleted and back, and made anew elsewhere', 'old', 'theirs', 'old', [null], true],
  ['deleted and back, and deleted elsewhere', 'old', NONE, 'old', [null], true],
  ['deleted and made anew, on both sides', 'new', 'theirs', 'old', [null], false],
  ['new, and changed elsewhere', 'sent', 'theirs', NONE, ['sent'], true],
  ['new and edited again, and changed elsewhere', 'new', 'theirs', NONE, ['sent'], false],
  ['new and deleted, and changed elsewhere: it comes in any case', NONE, 'theirs', NONE, ['sent'], false],
  ['new, and the hub has none: it stays', 'sent', NONE, NONE, ['sent'], false],
  ['new, and the hub has the same', 'sent', 'sent', NONE, ['sent'], false],
])('[SYN-25] whether the hub must be asked what it received: %s', (_, local, remote, agreed, sent, asks) => {
  const side = remote === NONE ? NONE : { sha256: remote };
  const base = agreed === NONE ? NONE : { sha256: agreed, storedMs: 100 };
  expect(hangsOnSent(local, { side, storedMs: LATER }, base, new Set(sent))).toBe(asks);
  expect(hangsOnSent(local, { side, storedMs: LATER }, base && { sha256: base.sha256 }, new Set(sent))).toBe(asks);
  expect(hangsOnSent(local, { side, storedMs: LATER }, base, NONE)).toBe(false);
  // The hub has nothing newer than what both sides agreed on, or no such path.
  if (base !== NONE) expect(hangsOnSent(local, { side, storedMs: 100 }, base, new Set(sent))).toBe(false);
  expect(hangsOnSent(local, { side, storedMs: 0 }, base, new Set(sent))).toBe(false);
});

const at = (ms: number) => new Date(ms).toISOString();
const VERSION = { path: 'a', sha256: 'sent', deleted: false, device_id: 'here', stored_at: at(LATER) };
const GONE = { ...VERSION, sha256: '', deleted: true };
const AGREED = { sha256: 'old', storedMs: 100 };
const UNDATED = { sha256: 'old' };

test.each([
  ['it is there', VERSION, AGREED, 'received'],
  ['in another spelling', { ...VERSION, path: 'A' }, AGREED, 'received'],
  ['another device made the same', { ...VERSION, device_id: 'there' }, AGREED, 'goes on'],
  ['another version of this device', { ...VERSION, sha256: 'other' }, AGREED, 'goes on'],
  ['an earlier name of the file', { ...VERSION, path: 'b' }, AGREED, 'goes on'],
  ['an older version with the same bytes', { ...VERSION, stored_at: at(100) }, AGREED, 'never received'],
  ['the agreed version, without its time', { ...VERSION, sha256: 'old' }, UNDATED, 'never received'],
  ['a newer one with the agreed bytes', { ...VERSION, sha256: 'old', device_id: 'there' }, AGREED, 'goes on'],
  ['it is there, where no time is known', VERSION, UNDATED, 'received'],
  ['a new file is there', VERSION, NONE, 'received'],
  ['the delete before a new file', GONE, NONE, 'never received'],
  ['the delete of another file', { ...GONE, path: 'b' }, NONE, 'goes on'],
  ['a delete of an agreed file by another device', { ...GONE, device_id: 'there' }, AGREED, 'goes on'],
] as const)('[SYN-25] whether the hub received a push, by its versions: %s', (_, version, agreed, found) => {
  const wanted = { path: 'a', device: 'here', agreed, sent: new Set<Sha>(['sent']) };
  expect(searchedTo(version, wanted)).toBe(found);
});

test('[SYN-25] whether the hub received a delete, by its versions', () => {
  const wanted = { path: 'a', device: 'here', agreed: AGREED, sent: new Set<Sha>([null]) };
  expect(searchedTo(GONE, wanted)).toBe('received');
  expect(searchedTo({ ...GONE, device_id: 'there' }, wanted)).toBe('goes on');
  expect(searchedTo(VERSION, wanted)).toBe('goes on');
});
