/**
 * Checks vaults: every version re-hashed, every row and counter held against a recount of the log itself. It walks each
 * log once, in its order; only reads.
 */
import type { CheckedReader } from '../store/checked-reader.ts';
import { ContentCheck } from './content-check.ts';
import { foldCase } from './glob.ts';
import { compareHlc, type Hlc, parseHlc } from './hlc.ts';
import { foldersOf } from './paths.ts';
import {
  conflicts,
  devices,
  type FileRecord,
  files,
  folders,
  pendingConflicts,
  primaries,
  superseded,
  usage,
  type VaultHead,
  vaultHeads,
  vaultOwners,
  vaults,
  versions,
} from './records.ts';
import { readVersionHead, readVersionMeta, type VersionMeta } from './version.ts';

export interface SyncReport {
  readonly vaults: number;
  readonly files: number;
  readonly versions: number;
  readonly pendingConflicts: number;
  readonly stagedContents: number;
  readonly problems: string[];
}

/** What the log of one vault says. */
interface VaultRecount {
  seq: number;
  storedMs: number;
  clock: Hlc | undefined;
  versions: number;
  pending: number;
  pendingBytes: number;
  /** The newest version of each folded path, with how many of it there are. */
  readonly newest: Map<string, NewestVersion>;
}

interface NewestVersion {
  readonly meta: VersionMeta;
  readonly storedMs: number;
  readonly lineBytes: number;
  readonly count: number;
}

export function verifySync(reader: CheckedReader): SyncReport {
  const problems: string[] = [];
  const owners = checkOwners(reader, problems);
  const content = new ContentCheck(reader, problems);
  const recounts = recountVersions(reader, content, problems);
  recountConflicts(reader, content, recounts, problems);
  const bytes = new Map<string, number>();
  let fileCount = 0;
  for (const [vaultId, recount] of recounts) {
    const head = reader.get(vaultHeads, [vaultId]);
    const expected = headOf(recount);
    checkHead(vaultId, head, expected, recount, problems);
    checkFolders(reader, vaultId, recount, problems);
    fileCount += expected.files;
    const owner = owners.get(vaultId);
    if (owner === undefined) problems.push(`vault ${vaultId}: it belongs to nobody`);
    else bytes.set(owner, (bytes.get(owner) ?? 0) + expected.bytes + recount.pendingBytes);
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
  };
}

function checkOwners(reader: CheckedReader, problems: string[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { key } of reader.walk(vaults)) {
    owners.set(key[1], key[0]);
    if (reader.get(vaultOwners, [key[1]])?.account_id !== key[0])
      problems.push(`vault ${key[1]}: its owner is not indexed`);
  }
  for (const { key, value } of reader.walk(vaultOwners)) {
    if (owners.get(key[0]) !== value.account_id) problems.push(`owner of vault ${key[0]}: there is no such vault`);
  }
  for (const { key, value } of reader.walk(primaries)) {
    if (reader.get(vaults, [key[0], value.vault_id])?.is_primary !== true) {
      problems.push(`primary vault of ${key[0]}: ${value.vault_id} is none`);
    }
  }
  return owners;
}

function recountOf(recounts: Map<string, VaultRecount>, vaultId: string): VaultRecount {
  let recount = recounts.get(vaultId);
  if (recount === undefined) {
    recount = { seq: 0, storedMs: 0, clock: undefined, versions: 0, pending: 0, pendingBytes: 0, newest: new Map() };
    recounts.set(vaultId, recount);
  }
  return recount;
}

/** In the order of the log, so that each version is met behind the one that it points at. */
function recountVersions(reader: CheckedReader, content: ContentCheck, problems: string[]) {
  const recounts = new Map<string, VaultRecount>();
  for (const [vaultId, seq] of reader.keys(versions)) {
    const name = `version ${vaultId} ${seq}`;
    const bytes = reader.view(versions, [vaultId, seq])?.slice();
    const recount = recountOf(recounts, vaultId);
    try {
      if (bytes === undefined) throw new Error('it is not there');
      const head = readVersionHead(bytes);
      const meta = readVersionMeta(bytes);
      content.checkVersion(name, bytes);
      if (meta.seq !== seq) problems.push(`${name}: says that it is ${meta.seq}`);
      if (head.storedMs <= recount.storedMs) problems.push(`${name}: stored before the one before it`);
      if (Date.parse(meta.stored_at) !== head.storedMs) problems.push(`${name}: its times differ`);
      const folded = foldCase(meta.path);
      const before = recount.newest.get(folded);
      if (before !== undefined ? head.previousSeq !== before.meta.seq : isBroken(reader, vaultId, head.previousSeq)) {
        problems.push(`${name}: its chain is broken`);
      }
      recount.newest.set(folded, {
        meta,
        storedMs: head.storedMs,
        lineBytes: head.lineBytes,
        count: (before?.count ?? 0) + 1,
      });
      recount.storedMs = head.storedMs;
      recount.clock = laterOf(recount.clock, parseHlc(meta.hlc, meta.device_id));
    } catch {
      // What exactly is wrong with the bytes helps nobody; which version it is, does.
      problems.push(`${name}: it cannot be read`);
    }
    recount.seq = seq;
    recount.versions += 1;
  }
  return recounts;
}

/** The oldest kept version of a path points at nothing, or at one that was let go of. */
function isBroken(reader: CheckedReader, vaultId: string, previousSeq: number): boolean {
  return previousSeq !== 0 && reader.view(versions, [vaultId, previousSeq]) !== undefined;
}

function laterOf(a: Hlc | undefined, b: Hlc | undefined): Hlc | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareHlc(a, b) >= 0 ? a : b;
}

function recountConflicts(
  reader: CheckedReader,
  content: ContentCheck,
  recounts: Map<string, VaultRecount>,
  problems: string[],
): void {
  for (const { key, value } of reader.walk(conflicts)) {
    const [vaultId, id] = key;
    const name = `conflict ${vaultId} ${id}`;
    const isPending = value.status === 'pending';
    const indexed = reader.get(pendingConflicts, [vaultId, foldCase(value.path), id]) !== undefined;
    if (indexed !== isPending) problems.push(`${name}: ${isPending ? 'pending and not listed' : 'settled and listed'}`);
    if (isPending !== (value.settled_at === null)) problems.push(`${name}: its status and its end disagree`);
    content.checkConflict(name, vaultId, id, value);
    if (!isPending) continue;
    const recount = recountOf(recounts, vaultId);
    recount.pending += 1;
    recount.pendingBytes += value.size_bytes;
  }
  for (const [vaultId, folded, id] of reader.keys(pendingConflicts)) {
    if (reader.get(conflicts, [vaultId, id]) === undefined)
      problems.push(`pending ${vaultId} ${folded} ${id}: there is none`);
  }
}

function headOf(recount: VaultRecount) {
  const all = [...recount.newest.values()];
  const live = all.filter(({ meta }) => meta.type === 'file');
  return {
    seq: recount.seq,
    stored_ms: recount.storedMs,
    files: live.length,
    tombstones: all.length - live.length,
    bytes: live.reduce((sum, { meta }) => sum + meta.size_bytes, 0),
    line_bytes: live.reduce((sum, { lineBytes }) => sum + lineBytes, 0),
    pending: recount.pending,
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
    if (found !== value) problems.push(`head of ${vaultId}: ${field} is ${found}, a recount says ${value}`);
  }
  const hub = { ms: head?.hlc_ms ?? 0, counter: head?.hlc_counter ?? 0, node: '' };
  if (clock !== undefined && compareHlc(hub, { ...clock, node: '' }) < 0) {
    problems.push(`head of ${vaultId}: its clock is behind a version's`);
  }
}

function checkFolders(reader: CheckedReader, vaultId: string, recount: VaultRecount, problems: string[]): void {
  const children = new Map<string, Set<string>>();
  for (const [folded, { meta }] of recount.newest) {
    if (meta.type !== 'file') continue;
    let child = folded;
    for (const folder of foldersOf(folded)) {
      children.set(folder, (children.get(folder) ?? new Set()).add(child));
      child = folder;
    }
  }
  for (const [, folder] of reader.keys(folders, [vaultId])) {
    const expected = children.get(folder)?.size ?? 0;
    const found = reader.get(folders, [vaultId, folder])?.children;
    children.delete(folder);
    if (found !== expected) problems.push(`folder ${vaultId} ${folder}: holds ${found}, a recount says ${expected}`);
  }
  for (const folder of children.keys()) problems.push(`folder ${vaultId} ${folder}: is missing`);
}

function checkFiles(reader: CheckedReader, recounts: Map<string, VaultRecount>, problems: string[]): void {
  const unseen = new Set<string>();
  for (const [vaultId, { newest }] of recounts) for (const folded of newest.keys()) unseen.add(`${vaultId}/${folded}`);
  for (const { key, value } of reader.walk(files)) {
    const [vaultId, folded] = key;
    unseen.delete(`${vaultId}/${folded}`);
    const newest = recounts.get(vaultId)?.newest.get(folded);
    if (newest === undefined || !agrees(value, newest)) {
      problems.push(`file ${vaultId} ${folded}: its row and its newest version disagree`);
    }
  }
  for (const name of unseen) problems.push(`file ${name}: is missing`);
}

function agrees(file: FileRecord, { meta, storedMs, lineBytes, count }: NewestVersion): boolean {
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
  } = meta;
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
    lineBytes,
    count,
  ];
  return wanted.every((value, index) => value === found[index]);
}

/** Rows of what is not there. */
function checkStrays(
  reader: CheckedReader,
  recounts: Map<string, VaultRecount>,
  owners: Map<string, string>,
  problems: string[],
): void {
  for (const [vaultId] of reader.keys(vaultHeads)) {
    if (!recounts.has(vaultId)) problems.push(`head of ${vaultId}: there is no log`);
  }
  for (const [vaultId, folder] of reader.keys(folders)) {
    if (!recounts.has(vaultId)) problems.push(`folder ${vaultId} ${folder}: there is no such vault`);
  }
  for (const [vaultId, device] of reader.keys(devices)) {
    if (!owners.has(vaultId)) problems.push(`device ${vaultId} ${device}: there is no such vault`);
  }
  for (const { key, value } of reader.walk(superseded)) {
    const by = reader.view(versions, [key[0], value.by]);
    if (by !== undefined && readVersionHead(by).previousSeq === key[1]) continue;
    problems.push(`superseded ${key[0]} ${key[1]}: ${value.by} did not take its place`);
  }
}

function checkUsage(reader: CheckedReader, bytes: Map<string, number>, problems: string[]): void {
  for (const { key, value } of reader.walk(usage)) {
    const expected = bytes.get(key[0]) ?? 0;
    bytes.delete(key[0]);
    if (value.bytes !== expected) problems.push(`usage of ${key[0]}: ${value.bytes} bytes, a recount says ${expected}`);
  }
  for (const [account, expected] of bytes) {
    if (expected > 0) problems.push(`usage of ${account}: is missing`);
  }
}
