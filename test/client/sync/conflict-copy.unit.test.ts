/** What becomes of bytes that the hub does not take under their name, and how a conflict copy is named. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkFolderPath, type FolderPath } from '../../../src/client/sync/folder/path.ts';
import { conflictName, decideFate, oldestCopies } from '../../../src/client/sync/plan/conflict-copy.ts';
import { seed } from '../../support/seed.ts';

const path = 'docs/deep/notes.md' as FolderPath;
const mark = { device: 'laptop-1a2b3c4d', nowMs: Date.UTC(2026, 10, 22, 1, 30), attempt: 1 };
const named = (given: string, more = {}) => conflictName(given as FolderPath, { ...mark, ...more });

test('[SYN-25] refused bytes are a pending conflict, become a conflict copy, or are listed', () => {
  const fate = (isConflict: boolean, data: Record<string, unknown>) => decideFate(path, { isConflict, data });
  expect(fate(true, { conflict_id: 'c_1' })).toEqual({ kind: 'pending', conflictId: 'c_1' });
  // As many conflicts as a path may have wait there already.
  expect(fate(true, { conflict_id: null })).toMatchObject({ kind: 'copy', from: path });
  // Another spelling of the name, a folder of that name, and a file where a folder is needed.
  expect(fate(false, { existing_path: 'docs/deep/NOTES.md' })).toMatchObject({ kind: 'copy', from: path });
  expect(fate(false, { existing_path: 'docs/deep/notes.md' })).toMatchObject({ kind: 'copy', from: path });
  expect(fate(false, { existing_path: 'DOCS' })).toMatchObject({ kind: 'copy', from: 'docs' });
  expect(fate(false, { existing_path: 'docs/Deep' })).toMatchObject({ kind: 'copy', from: 'docs/deep' });
  // The quota, or a name that no hub takes.
  expect(fate(false, { quota_bytes: 1 })).toEqual({ kind: 'listed' });
});

test('[SYN-25] a conflict copy says of which device and time it is, and keeps its type', () => {
  expect(named('notes.md')).toBe('notes (conflict laptop-1a2b3c4d 2026-11-22 013000).md');
  expect(named('docs/Makefile')).toBe('docs/Makefile (conflict laptop-1a2b3c4d 2026-11-22 013000)');
  expect(named('.profile')).toBe('.profile (conflict laptop-1a2b3c4d 2026-11-22 013000)');
  expect(named('notes.md', { attempt: 2 })).toBe('notes (conflict laptop-1a2b3c4d 2026-11-22 013000 2).md');
  // A copy of a copy has one mark.
  expect(named(named('a.md'), { device: 'nas' })).toBe('a (conflict nas 2026-11-22 013000).md');
  expect(named('a (CONFLICT x 1) (conflict y 2).md')).toBe('a (conflict laptop-1a2b3c4d 2026-11-22 013000).md');
});

test('[SYN-30] the oldest copies of a file are found by their time, whatever device made them', () => {
  const copy = (device: string, time: string, of = 'docs/n') => `${of} (conflict ${device} ${time}).md` as FolderPath;
  const paths = [
    copy('b', '2026-11-22 013000'),
    copy('c', '2026-11-20 013000'),
    copy('a', '2026-11-22 013000 2'),
    copy('a', '2026-11-01 013000', 'docs/other'),
    copy('a', '2026-11-01 013000', 'n'),
    'docs/n.md' as FolderPath,
  ];
  expect(oldestCopies(paths, 'docs/n.md' as FolderPath, 1)).toEqual([paths[1], paths[0]]);
  expect(oldestCopies(paths, 'docs/n.md' as FolderPath, 3)).toEqual([]);
});

test(`[SYN-25] the name of a conflict copy is another path that every folder takes (FC_SEED=${seed})`, () => {
  const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 250 });
  const given = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(given, fc.integer({ min: 1, max: 99 }), (text, attempt) => {
      const checked = checkFolderPath(text);
      fc.pre(typeof checked === 'string' && checked.split('/').every((one) => Buffer.byteLength(one) <= 255));
      const copy = named(checked as string, { attempt });
      expect(checkFolderPath(copy)).toBe(copy);
      expect(copy).not.toBe(checked);
      expect(Buffer.byteLength(copy.slice(copy.lastIndexOf('/') + 1))).toBeLessThanOrEqual(255);
    }),
    { seed },
  );
});
