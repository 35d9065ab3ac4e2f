/**
 * Checks vaults: hashes every version again, and compares every row and counter with a recount of the log. Walks each
 * log once, in its order. Read-only.
 */
import type { CheckedReader } from '../../store/checked-reader.ts';
import type { FileRecord } from '../log/file-record.ts';
import { compareHlc } from '../log/hlc.ts';
import { foldersOf } from '../log/paths.ts';
import {
  devices,
  files,
  folders,
  primaries,
  usage,
  type VaultHead,
  vaultHeads,
  vaultOwners,
  vaults,
  versions,
} from '../log/records.ts';
import type { VaultVersionKey } from '../log/set-aside.ts';
import { readVersionHead, readVersionMeta } from '../log/version.ts';
import { ContentVerifier } from './contents.ts';
import { type DeletedRows, NOTHING_DELETED } from './deleted.ts';
import { recountChunks, recountConflicts, recountOf, recountVersions, type VaultRecount } from './recount.ts';

export interface SyncReport {
  readonly vaults: number;
  readonly files: number;
  readonly versions: number;
  readonly pendingConflicts: number;
  readonly stagedContents: number;
  readonly problems: string[];
  /** Versions with damaged contents that are not set aside yet. */
  readonly damaged: readonly VaultVersionKey[];
  /** One sentence for each damaged version already set aside. */
  readonly aside: readonly string[];
}

export function verifySync(reader: CheckedReader, deleted: DeletedRows = NOTHING_DELETED): SyncReport {
  const problems: string[] = [];
  const owners = checkOwners(reader, problems);
  const content = new ContentVerifier(reader, problems, deleted.holders);
  const recounts = recountVersions(reader, content, problems);
  recountConflicts(reader, content, recounts, problems);
  recountChunks(reader, recounts);
  // A vault whose pushes were all refused has counters but no versions.
  for (const [vaultId] of reader.keys(vaultHeads)) if (owners.has(vaultId)) recountOf(recounts, vaultId);
  const bytes = new Map<string, number>();
  let fileCount = 0;
  for (const [vaultId, recount] of recounts) {
    reader.guard(vaultHeads, [vaultId], () => {
      const head = reader.get(vaultHeads, [vaultId]);
      const expected = headOf(recount);
      checkHead(vaultId, head, expected, recount, problems);
      checkFolders(reader, vaultId, recount, problems);
      fileCount += expected.files;
      const owner = owners.get(vaultId);
      if (owner === undefined) problems.push(`vault ${vaultId}: no account owns it`);
      else bytes.set(vaultId, expected.bytes + recount.pendingBytes);
    });
  }
  checkFiles(reader, recounts, problems);
  checkStrays(reader, recounts, owners, problems);
  checkUsage(reader, bytes, problems);
  const { staged } = content.finish();
  const all = [...recounts.values()];
  return {
    vaults: owners.size,
    files: fileCount,
    versions: all.reduce((sum, recount) => sum + recount.versions, 0),
    pendingConflicts: all.reduce((sum, recount) => sum + recount.pending, 0),
    stagedContents: staged,
    problems,
    damaged: content.damaged,
    aside: content.aside,
  };
}

function checkOwners(reader: CheckedReader, problems: string[]): Map<string, string> {
  const owners = new Map<string, string>();
  reader.each(vaults, ({ key }) => {
    owners.set(key[1], key[0]);
    if (reader.get(vaultOwners, [key[1]])?.account_id !== key[0])
      problems.push(`vault ${key[1]}: its owner is not indexed`);
  });
  reader.each(vaultOwners, ({ key, value }) => {
    if (owners.get(key[0]) !== value.account_id) problems.push(`owner of vault ${key[0]}: vault not found`);
  });
  reader.each(primaries, ({ key, value }) => {
    if (reader.get(vaults, [key[0], value.vault_id])?.is_primary !== true) {
      problems.push(`primary vault of ${key[0]}: ${value.vault_id} not found`);
    }
  });
  return owners;
}

function headOf(recount: VaultRecount) {
  const all = [...recount.newest.values()];
  const live = all.filter(({ isFile }) => isFile);
  return {
    seq: recount.seq,
    stored_ms: recount.storedMs,
    files: live.length,
    tombstones: all.length - live.length,
    bytes: live.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    line_bytes: live.reduce((sum, { lineBytes }) => sum + lineBytes, 0),
    pending: recount.pending,
    kept_bytes: recount.keptBytes,
  };
}

function checkHead(
  vaultId: string,
  head: VaultHead | undefined,
  expected: ReturnType<typeof headOf>,
  { clock }: VaultRecount,
  problems: string[],
): void {
  for (const [field, value] of Object.entries(expected)) {
    const found = head?.[field as keyof VaultHead];
    if (found !== value) problems.push(`head of ${vaultId}: ${field} is ${found} instead of ${value}`);
  }
  const hub = { ms: head?.hlc_ms ?? 0, counter: head?.hlc_counter ?? 0, node: '' };
  if (clock !== undefined && compareHlc(hub, { ...clock, node: '' }) < 0) {
    problems.push(`head of ${vaultId}: its clock is earlier than the newest version's`);
  }
}

function checkFolders(reader: CheckedReader, vaultId: string, recount: VaultRecount, problems: string[]): void {
  const children = new Map<string, number>();
  for (const [folded, { isFile }] of recount.newest) {
    if (!isFile) continue;
    // From the inside out: a folder that is known has been counted in the one around it.
    for (const folder of foldersOf(folded)) {
      const known = children.get(folder);
      children.set(folder, (known ?? 0) + 1);
      if (known !== undefined) break;
    }
  }
  for (const [, folder] of reader.keys(folders, [vaultId])) {
    const expected = children.get(folder) ?? 0;
    const found = reader.get(folders, [vaultId, folder])?.children;
    children.delete(folder);
    if (found !== expected) problems.push(`folder ${vaultId} ${folder}: ${found} entries instead of ${expected}`);
  }
  for (const folder of children.keys()) problems.push(`folder ${vaultId} ${folder}: missing`);
}

function checkFiles(reader: CheckedReader, recounts: Map<string, VaultRecount>, problems: string[]): void {
  reader.each(files, ({ key, value }) => {
    const [vaultId, folded] = key;
    const newest = recounts.get(vaultId)?.newest.get(folded);
    if (newest !== undefined) newest.isMet = true;
    const version = newest === undefined ? undefined : reader.view(versions, [vaultId, newest.seq]);
    if (newest === undefined || version === undefined || !agrees(value, version, newest.count)) {
      problems.push(`file ${vaultId} ${folded}: its row contradicts its newest version`);
    }
  });
  for (const [vaultId, { newest }] of recounts) {
    for (const [folded, { isMet }] of newest) if (!isMet) problems.push(`file ${vaultId}/${folded}: missing`);
  }
}

function agrees(file: FileRecord, version: Uint8Array, count: number): boolean {
  const { storedMs, lineBytes } = readVersionHead(version);
  const found = [
    file.path,
    file.seq,
    file.deleted,
    file.sha256,
    file.git_sha,
    file.hlc,
    file.size_bytes,
    file.stored_ms,
    file.device_id,
    file.mtime,
    file.executable,
    file.line_bytes,
    file.versions,
  ];
  const {
    path,
    seq,
    type,
    sha256,
    git_sha: gitSha,
    hlc,
    size_bytes: sizeBytes,
    device_id: device,
    remote_mtime: mtime,
    executable = false,
  } = readVersionMeta(version);
  const wanted = [
    path,
    seq,
    type === 'deleted',
    sha256,
    gitSha,
    hlc,
    sizeBytes,
    storedMs,
    device,
    mtime,
    executable,
    lineBytes,
    count,
  ];
  return wanted.every((value, index) => value === found[index]);
}

/** Checks for rows of vaults that do not exist. */
function checkStrays(
  reader: CheckedReader,
  recounts: Map<string, VaultRecount>,
  owners: Map<string, string>,
  problems: string[],
): void {
  reader.eachKey(vaultHeads, ([vaultId]) => {
    if (!recounts.has(vaultId)) problems.push(`head of ${vaultId}: vault not found`);
  });
  reader.eachKey(folders, ([vaultId, folder]) => {
    if (!recounts.has(vaultId)) problems.push(`folder ${vaultId} ${folder}: vault not found`);
  });
  reader.eachKey(devices, ([vaultId, device]) => {
    if (!owners.has(vaultId)) problems.push(`device ${vaultId} ${device}: vault not found`);
  });
}

function checkUsage(reader: CheckedReader, bytes: Map<string, number>, problems: string[]): void {
  reader.each(usage, ({ key, value }) => {
    const expected = bytes.get(key[0]) ?? 0;
    bytes.delete(key[0]);
    if (value.bytes !== expected) problems.push(`usage of ${key[0]}: ${value.bytes} bytes instead of ${expected}`);
  });
  for (const [id, expected] of bytes) {
    if (expected > 0) problems.push(`usage of ${id}: missing`);
  }
}
