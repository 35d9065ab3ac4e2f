/** cairn verify over vaults: silent on good data of every kind, and exact about every kind of damage. */

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { CheckedReader } from '../../../src/store/checked-reader.ts';
import { DATA_FILE } from '../../../src/store/data-file/names.ts';
import type { Batch } from '../../../src/store/group-commit.ts';
import { Store } from '../../../src/store/store.ts';
import {
  conflictBytes,
  conflicts,
  devices,
  files,
  folders,
  pendingConflicts,
  pieceShares,
  pieces,
  stagedPieces,
  syncTables,
  usage,
  vaultHeads,
  vaultOwners,
  vaults,
  versions,
} from '../../../src/sync/log/records.ts';
import { verifySync } from '../../../src/sync/verify/vaults.ts';
import { forge } from '../../support/forge.ts';
import { runCairn, startHub } from '../../support/hub.ts';
import { clockAt, type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LONG = 'long "text" \\ \n'.repeat(100_000);
let pristine: string;
let vaultId: string;
let emptyVaultId: string;
let conflictId: string;
let longConflictId: string;

/** A vault whose only push was refused, and dismissed: it has counters, and no version. */
async function refuseInEmptyVault(device: Device): Promise<string> {
  const { vault_id } = await device.result<{ vault_id: string }>('vault_create', { name: 'empty' });
  const wrong = { vault_id, base_sha: sha256Of('never there') };
  const { data } = await device.refusedPush('never-there.md', 'mine', wrong);
  await device.result('sync_resolve_conflict', { vault_id, conflict_id: data['conflict_id'], keep: 'theirs' });
  return vault_id;
}

beforeAll(async () => {
  const hub = await startHub();
  pristine = hub.dataFolder;
  const laptop = await newDevice(hub);
  const phone = laptop.other('phone');
  const old = clockAt(1000);
  ({ vault_id: vaultId } = await laptop.push('notes/a.md', 'one'));
  await laptop.push('notes/a.md', 'two');
  const { seq } = await laptop.push('notes/deep/long.md', LONG);
  await laptop.push('notes/deep/long.md', 'short');
  await laptop.result('sync_restore', { path: 'notes/deep/long.md', seq });
  await laptop.push('gone.md', 'gone');
  await laptop.result('sync_push', laptop.deleteOf('gone.md', { base_sha: sha256Of('gone') }));
  await laptop.result(
    'sync_push',
    laptop.pushOf('moved.md', 'two', { from_path: 'notes/a.md', base_sha: sha256Of('two') }),
  );
  conflictId = String((await phone.refusedPush('moved.md', 'mine', { hlc: old })).data['conflict_id']);
  longConflictId = String(
    (await phone.refusedPush('notes/deep/long.md', `${LONG}!`, { hlc: old })).data['conflict_id'],
  );
  await laptop.push('taken.md', 'theirs');
  const { data } = await phone.refusedPush('taken.md', `${LONG}?`, { hlc: old });
  await laptop.result('sync_resolve_conflict', { conflict_id: data['conflict_id'], keep: 'yours' });
  emptyVaultId = await refuseInEmptyVault(laptop);
  await hub.stop();
});

function copyOfData(): string {
  const folder = temporaryFolder();
  for (const name of [DATA_FILE, 'master.key']) copyFileSync(join(pristine, name), join(folder, name));
  return folder;
}

/** What is found in a copy that was damaged. */
async function problemsAfter(change: (batch: Batch) => void): Promise<string[]> {
  const store = new Store({ folder: copyOfData(), tables: syncTables });
  await forge(store, change);
  const { problems } = verifySync(new CheckedReader(store));
  await store.close();
  return problems;
}

/** A row that is there. */
function found<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('there is no such row');
  return row;
}

test('[OPS-6] good vaults are silent, and are counted', async () => {
  const { code, stdout } = await runCairn(['verify', '--json'], { CAIRN_DATA: copyOfData() });
  const report = JSON.parse(stdout) as Record<string, unknown>;
  expect({ code, problems: report['problems'] }).toEqual({ code: 0, problems: [] });
  expect(report).toMatchObject({ vaults: 2, files: 3, versions: 11, pending_conflicts: 2, staged_contents: 0 });
});

type Damage = (batch: Batch) => void;

/** A version with one byte changed: 0 is in its head, from the end in its line. */
const flipped =
  (seq: number, at: number): Damage =>
  (batch) => {
    const bytes = found(batch.get(versions, [vaultId, seq]));
    const index = at < 0 ? bytes.length + at : at;
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    batch.put(versions, [vaultId, seq], bytes);
  };

const damages: [string, string, Damage][] = [
  ['a byte of a content', 'does not match its hash', flipped(1, -5)],
  ['a byte of a hash', 'head contradicts its line', flipped(1, 50)],
  ['a link of a chain', 'chain is broken', flipped(2, 15)],
  ['a layout', 'cannot be read', flipped(2, 0)],
  ['a time', 'times differ', flipped(4, 16)],
  ['a version that is gone', 'chain is broken', (batch) => batch.remove(versions, [vaultId, 4])],
  ['the newest version', 'contradicts', (batch) => batch.remove(versions, [vaultId, 5])],
  [
    'a piece',
    'does not match its hash',
    (batch) =>
      batch.put(
        pieces,
        [1, 0],
        found(batch.get(pieces, [1, 0])).map((byte, at) => (at === 9 ? 33 : byte)),
      ),
  ],
  ['a piece that is gone', 'its line has', (batch) => batch.remove(pieces, [1, 1])],
  ['pieces of nobody', 'belong to no version', (batch) => batch.put(pieces, [77, 0], new Uint8Array(3))],
  [
    'pieces in use that are staged',
    'in use, but still staged',
    (batch) => batch.put(stagedPieces, [1], { started_at: '' }),
  ],
  ['a count of holders', 'but the row has', (batch) => batch.put(pieceShares, [1], { holders: 3 })],
  ['a count of holders that is gone', 'no row counts them', (batch) => batch.remove(pieceShares, [1])],
  [
    'a file',
    'contradicts',
    (batch) =>
      batch.put(files, [vaultId, 'moved.md'], { ...found(batch.get(files, [vaultId, 'moved.md'])), size_bytes: 9 }),
  ],
  ['a file that is gone', ': missing', (batch) => batch.remove(files, [vaultId, 'moved.md'])],
  [
    'a file too many',
    'contradicts',
    (batch) => batch.put(files, [vaultId, 'x'], found(batch.get(files, [vaultId, 'moved.md']))),
  ],
  [
    'a count of files',
    'files is 4',
    (batch) => batch.put(vaultHeads, [vaultId], { ...found(batch.get(vaultHeads, [vaultId])), files: 4 }),
  ],
  [
    'a clock',
    'clock is earlier',
    (batch) => batch.put(vaultHeads, [vaultId], { ...found(batch.get(vaultHeads, [vaultId])), hlc_ms: 5 }),
  ],
  [
    'a head that counts versions where there are none',
    'seq is ',
    (batch) => batch.put(vaultHeads, [emptyVaultId], found(batch.get(vaultHeads, [vaultId]))),
  ],
  ['a head that is gone', 'seq is undefined', (batch) => batch.remove(vaultHeads, [vaultId])],
  [
    'a head of nothing',
    'vault not found',
    (batch) => batch.put(vaultHeads, ['v_x'], found(batch.get(vaultHeads, [vaultId]))),
  ],
  ['a folder', '2 entries instead of 1', (batch) => batch.put(folders, [vaultId, 'notes'], { children: 2 })],
  ['a folder that is gone', ': missing', (batch) => batch.remove(folders, [vaultId, 'notes/deep'])],
  ['a folder too many', '1 entries instead of 0', (batch) => batch.put(folders, [vaultId, 'none'], { children: 1 })],
  ['the usage', '1 bytes instead of', (batch) => batch.put(usage, [vaultId], { bytes: 1 })],
  ['the usage that is gone', ': missing', (batch) => batch.remove(usage, [vaultId])],
  [
    'a conflict that is not listed',
    'pending, but not listed',
    (batch) => batch.remove(pendingConflicts, [vaultId, 'moved.md', conflictId]),
  ],
  ['a conflict that is gone', 'conflict not found', (batch) => batch.remove(conflicts, [vaultId, conflictId])],
  [
    'bytes of a conflict',
    'does not match its hash',
    (batch) => batch.put(conflictBytes, [vaultId, conflictId], Buffer.from('many')),
  ],
  [
    'bytes of a conflict that are gone',
    'bytes are missing',
    (batch) => batch.remove(conflictBytes, [vaultId, conflictId]),
  ],
  [
    'pieces of a conflict',
    'wrong length',
    (batch) =>
      batch.put(conflicts, [vaultId, longConflictId], {
        ...found(batch.get(conflicts, [vaultId, longConflictId])),
        escaped_bytes: 1,
      }),
  ],
  [
    'a settled conflict without an end',
    'contradicts',
    (batch) =>
      batch.put(conflicts, [vaultId, conflictId], {
        ...found(batch.get(conflicts, [vaultId, conflictId])),
        settled_at: '2026-11-20',
      }),
  ],
  ['an owner', 'owner is not indexed', (batch) => batch.remove(vaultOwners, [vaultId])],
  ['an owner of nothing', 'vault not found', (batch) => batch.put(vaultOwners, ['v_x'], { account_id: 'x' })],
  ['a vault', 'no account owns it', (batch) => batch.remove(vaults, [ownerOf(batch), vaultId])],
  [
    'a device of nothing',
    'vault not found',
    (batch) => batch.put(devices, ['v_x', 'd'], { last_seen_ms: 1, pulled_seq: 0, pushed_seq: 0 }),
  ],
];

const ownerOf = (batch: Pick<Batch, 'get'>) => found(batch.get(vaultOwners, [vaultId])).account_id;

test.each(damages)('[OPS-6] %s: found', async (_what, words, change) => {
  expect((await problemsAfter(change)).filter((problem) => problem.includes(words))).not.toEqual([]);
});
