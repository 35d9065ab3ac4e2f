/** Pending conflicts are divided into groups, and the newest side of a path is found. */
import { expect, test } from 'vitest';
import type { FileRecord } from '../../../../src/sync/log/file-record.ts';
import type { Conflict } from '../../../../src/sync/log/reader.ts';
import { groupConflicts, newestSide, readGrouping } from '../../../../src/web/vaults/conflicts/groups.ts';
import { clockAt } from '../../../support/sync.ts';

const NOON = Date.UTC(2026, 10, 26, 12);

interface Given {
  readonly id?: string;
  readonly path?: string;
  readonly device?: string;
  /** Minutes after noon: when it was sent, and when its file was changed. */
  readonly sent?: number;
  readonly changed?: number;
}

const iso = (minutes: number | undefined) =>
  minutes === undefined ? null : new Date(NOON + minutes * 60_000).toISOString();
const times = ({ sent = 0, changed }: Given) => ({ hlc: clockAt(NOON + sent * 60_000), mtime: iso(changed) });

function conflict(given: Given): Conflict {
  const { id = 'c', path = 'a.md', device = 'phone' } = given;
  const { hlc, mtime } = times(given);
  const record: Partial<Conflict['record']> = {
    path,
    kind: 'edit/edit',
    device_id: device,
    your_hlc: hlc,
    mtime,
    detected_at: new Date(NOON).toISOString(),
  };
  return { id, record: record as Conflict['record'] };
}

const file = (given: Given) => ({ ...times(given), deleted: false }) as FileRecord;

test.each<[string, readonly Given[], Given | undefined, string | undefined]>([
  ['sent later', [{ sent: 5 }], { sent: 1 }, 'c'],
  ['sent earlier', [{ sent: 1 }], { sent: 5 }, undefined],
  ['at the same time', [{ sent: 3 }], { sent: 3 }, undefined],
  ['sent later, but changed earlier', [{ sent: 5, changed: 1 }], { sent: 2, changed: 2 }, undefined],
  ['sent earlier, but changed later', [{ sent: 1, changed: 4 }], { sent: 5, changed: 2 }, 'c'],
  ['one side does not say when it changed', [{ sent: 5, changed: 1 }], { sent: 2 }, 'c'],
  [
    'the newest of two',
    [
      { id: 'x', sent: 4 },
      { id: 'y', sent: 6 },
    ],
    { sent: 5 },
    'y',
  ],
  ['no version on the hub', [{ sent: 1 }], undefined, 'c'],
])('[WEB-26] the newest side: %s', (_name, conflicts, hub, expected) => {
  expect(newestSide(conflicts.map(conflict), hub && file(hub))?.id).toBe(expected);
});

test('[WEB-26] conflicts are grouped by folder, device and kind', () => {
  const conflicts = [
    conflict({ path: 'top.md' }),
    conflict({ path: 'notes/a.md', device: 'desk' }),
    conflict({ path: 'notes/b.md' }),
    conflict({ path: 'notes/deep/c.md', device: 'desk' }),
  ];
  const groups = (by: Parameters<typeof groupConflicts>[1]) =>
    groupConflicts(conflicts, by).map(({ key, conflicts: of }) => [key, of.length]);
  expect(groups('folder')).toEqual([
    ['', 1],
    ['notes', 2],
    ['notes/deep', 1],
  ]);
  expect(groups('device')).toEqual([
    ['phone', 2],
    ['desk', 2],
  ]);
  expect(groups('kind')).toEqual([['edit/edit', 4]]);
  expect(['device', 'size', null].map(readGrouping)).toEqual(['device', 'folder', 'folder']);
});
