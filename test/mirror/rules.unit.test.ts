/** What an upload does to the blobs that are stored, and which time it gets. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import type { BlobRecord, UploadedFacts } from '../../src/mirror/declared.ts';
import { decidePublish, type PublishInput } from '../../src/mirror/rules.ts';

const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');
const at = (ms: number) => new Date(NOW_MS + ms).toISOString();

const NOTHING: UploadedFacts = { repository_id: null, repository_label: null, base_sha256: null, archive_kind: null };
const KNOWN: UploadedFacts = {
  repository_id: 'a',
  repository_label: 'web',
  base_sha256: 'b',
  archive_kind: 'repository',
};

const STORED: BlobRecord = {
  storage_id: 4,
  byte_size: 100,
  uploaded_at: at(-5000),
  uploaded_by: 'ci',
  credential_id: 'now',
  sequence: 3,
  ...NOTHING,
};

const upload = (changes: Partial<PublishInput>): PublishInput => ({
  existing: undefined,
  damagedId: undefined,
  head: { sequence: 8, uploaded_at: at(-1000) },
  credentialId: 'now',
  storageId: 9,
  byteSize: 100,
  uploadedBy: 'me',
  archive: NOTHING,
  nowMs: NOW_MS,
  ...changes,
});
const NEW = {
  storage_id: 9,
  byte_size: 100,
  uploaded_at: at(0),
  uploaded_by: 'me',
  credential_id: 'now',
  sequence: 9,
  ...NOTHING,
};
const before = { ...STORED, credential_id: 'before' };

describe('[MIR-10, MIR-19] an upload', () => {
  test.each<[title: string, changes: Partial<PublishInput>, outcome: unknown]>([
    ['of new bytes', {}, { kind: 'stored', record: NEW }],
    ['of new bytes, the first', { head: undefined }, { kind: 'stored', record: { ...NEW, sequence: 1 } }],
    ['of the same bytes', { existing: STORED }, { kind: 'kept', record: STORED }],
    [
      'of the same bytes while others are damaged',
      { existing: STORED, damagedId: 5 },
      { kind: 'kept', record: STORED },
    ],
    ['of damaged bytes', { existing: STORED, damagedId: 4 }, { kind: 'healed', record: { ...STORED, storage_id: 9 } }],
    [
      'under a new credential',
      { existing: before },
      { kind: 'rebound', record: { ...NEW, storage_id: 4 }, former: before },
    ],
    [
      'of damaged bytes under a new credential',
      { existing: before, damagedId: 4 },
      { kind: 'rebound', record: NEW, former: before },
    ],
  ])('%s', (_, changes, outcome) => {
    expect(decidePublish(upload(changes))).toEqual(outcome);
  });
});

describe('[MIR-7, OPS-12] the time of an upload', () => {
  const jump = limits.clockJumpMs;
  test.each<[title: string, lastMs: number | undefined, ms: number]>([
    ['is now, for the first', undefined, 0],
    ['is now, after an earlier one', -1, 0],
    ['is now, in the same millisecond', 0, 0],
    ['is that of the one before, when the clock went back a little', 1, 1],
    ['is that of the one before, when the clock went back by a day', jump, jump],
    ['is now, when the clock had jumped ahead by more and was corrected', jump + 1, 0],
  ])('%s', (_, lastMs, ms) => {
    const head = lastMs === undefined ? undefined : { sequence: 8, uploaded_at: at(lastMs) };
    expect(decidePublish(upload({ head })).record.uploaded_at).toBe(at(ms));
  });
  test('is the beginning of all times at the earliest', () => {
    expect(decidePublish(upload({ head: undefined, nowMs: 0 })).record.uploaded_at).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('[MIR-25] what is known of an archive', () => {
  const other = { ...KNOWN, repository_id: 'c', repository_label: 'api', base_sha256: 'd' };
  const tree = { ...NOTHING, archive_kind: 'tree' } as const;
  test.each<[title: string, stored: UploadedFacts, given: UploadedFacts, known: UploadedFacts]>([
    ['stays unknown', NOTHING, NOTHING, NOTHING],
    ['comes with the first upload that names a repository', NOTHING, KNOWN, KNOWN],
    ['keeps its kind', tree, { ...KNOWN, archive_kind: null }, { ...KNOWN, archive_kind: 'tree' }],
    ['takes another kind with its repository', tree, KNOWN, KNOWN],
    ['stays when an upload says nothing', KNOWN, NOTHING, KNOWN],
    ['stays when an upload says something else', KNOWN, other, KNOWN],
    [
      'takes a new label of its repository',
      KNOWN,
      { ...KNOWN, repository_label: 'x' },
      { ...KNOWN, repository_label: 'x' },
    ],
    ['keeps its label when none is given', KNOWN, { ...KNOWN, repository_label: null }, KNOWN],
    ['keeps being complete', { ...KNOWN, base_sha256: null }, KNOWN, { ...KNOWN, base_sha256: null }],
  ])('%s', (_, stored, given, known) => {
    const { record } = decidePublish(upload({ existing: { ...before, ...stored }, archive: given }));
    expect(record).toEqual({ ...NEW, storage_id: 4, ...known });
  });
  test('is stored with new bytes, and stays when they are healed or kept', () => {
    expect(decidePublish(upload({ archive: KNOWN })).record).toEqual({ ...NEW, ...KNOWN });
    expect(decidePublish(upload({ existing: STORED, damagedId: 4, archive: KNOWN })).record.repository_id).toBeNull();
  });
});
