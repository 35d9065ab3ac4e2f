/**
 * Checks packs: that their ranges are adjacent, that each line equals the line of its version byte for byte, and that
 * exactly the current files are alive in them. Read-only.
 */

import type { CheckedReader } from '../../store/checked-reader.ts';
import { bytesCodec } from '../../store/codec.ts';
import { isWholeRow, SUM_BYTES } from '../../store/row-sums.ts';
import { defineUnsummedTable } from '../../store/table.ts';
import { foldCase } from '../../text/fold-case.ts';
import { loosePacks, packBytes, packDead, packs } from '../log/pack-records.ts';
import { files, versions, versionsAside } from '../log/records.ts';
import { readVersionHead, readVersionMeta, versionLine } from '../log/version.ts';
import { isDead } from '../packs/dead-bits.ts';
import { lineAt, type PackLine, type PackSummary, readPackColumns, readPackSummary } from '../packs/index-layout.ts';
import { type DeletedRows, NOTHING_DELETED } from './deleted.ts';

/** The bytes of packs with their checksum: a damaged pack is compared with the versions nevertheless. */
const storedPackBytes = defineUnsummedTable<[packId: number], Uint8Array>(packBytes.name, bytesCodec, {});

export interface PacksReport {
  readonly packs: number;
  /** Number of packs without an index; the next start removes them. */
  readonly loose: number;
  readonly problems: string[];
}

/** The contents of the packs of a vault. */
interface PackedVault {
  /** Last sequence number covered by packs. */
  upTo: number;
  /** Packed versions that were not replaced. */
  readonly alive: Set<number>;
  /** Versions replaced by a version after the packs. */
  readonly replaced: Set<number>;
}

export function verifyPacks(reader: CheckedReader, deleted: DeletedRows = NOTHING_DELETED): PacksReport {
  const problems: string[] = [];
  const { found, vaults } = readIndexes(reader, problems);
  lookBehind(reader, vaults);
  const named = new Set(deleted.packIds);
  for (const { vaultId, summary, index } of found) {
    if (summary.packId > 0) named.add(summary.packId);
    const vault = vaults.get(vaultId);
    const tell = (what: string) => problems.push(`pack ${vaultId} ${summary.first}: ${what}`);
    if (vault === undefined) continue;
    reader.guard(packs, [vaultId, summary.first], () => checkPack(reader, vaultId, { summary, index }, vault, tell));
  }
  checkCurrent(reader, vaults, problems);
  return { packs: found.length, loose: checkStrays(reader, named, problems), problems };
}

interface FoundPack {
  readonly vaultId: string;
  readonly summary: PackSummary;
  readonly index: Uint8Array;
}

/** Reads the indexes, as far as they can be read, and checks that their ranges are adjacent. */
function readIndexes(reader: CheckedReader, problems: string[]) {
  const found: FoundPack[] = [];
  const vaults = new Map<string, PackedVault>();
  reader.each(packs, ({ key, value }) => {
    const [vaultId, first] = key;
    const vault = vaults.get(vaultId) ?? { upTo: 0, alive: new Set<number>(), replaced: new Set<number>() };
    vaults.set(vaultId, vault);
    try {
      const summary = readPackSummary(first, value);
      readPackColumns(Uint8Array.from(value));
      if (first !== vault.upTo + 1) problems.push(`pack ${vaultId} ${first}: it does not follow the one before it`);
      vault.upTo = summary.last;
      found.push({ vaultId, summary, index: Uint8Array.from(value) });
    } catch {
      problems.push(`pack ${vaultId} ${first}: its index cannot be read`);
    }
  });
  return { found, vaults };
}

function checkPack(
  reader: CheckedReader,
  vaultId: string,
  { summary, index }: Pick<FoundPack, 'summary' | 'index'>,
  vault: PackedVault,
  tell: (what: string) => void,
): void {
  const columns = readPackColumns(index);
  const stored = summary.packId === 0 ? undefined : reader.get(storedPackBytes, [summary.packId]);
  const bytes = summary.packId === 0 ? new Uint8Array(0) : stored?.subarray(0, -SUM_BYTES);
  const dead = reader.get(packDead, [vaultId, summary.first]);
  if (bytes?.length !== summary.packBytes) {
    tell('its size is not the size in its index');
    return;
  }
  let offset = 0;
  let hasAside = false;
  for (let at = 0; at < summary.lines; at += 1) {
    const line = lineAt(columns, summary.first, at);
    const packed = line.long ? undefined : bytes.subarray(offset, offset + line.lineBytes);
    if (packed !== undefined) offset += line.lineBytes;
    const isAlive = (dead === undefined || !isDead(dead, at)) && !vault.replaced.has(line.seq);
    if (isAlive) vault.alive.add(line.seq);
    // The packed copy of a version set aside may be intact, so it is not compared.
    const isAside = reader.get(versionsAside, [vaultId, line.seq]) !== undefined;
    const other = isAside ? undefined : packed;
    if (isAside) hasAside = true;
    const version = reader.view(versions, [vaultId, line.seq]);
    // A dead line may outlive its version.
    if (version === undefined ? isAlive : !isSame(line, other, version))
      tell(`its line ${line.seq} differs from the version`);
  }
  if (offset !== bytes.length) tell('its lines do not add up to its size');
  if (stored !== undefined && !hasAside && !isWholeRow(packBytes, [summary.packId], stored)) {
    tell('the checksum of its row does not match');
  }
}

function isSame(line: PackLine, packed: Uint8Array | undefined, version: Uint8Array): boolean {
  const { deleted, sizeBytes, lineBytes } = readVersionHead(version);
  if (packed !== undefined && Buffer.compare(packed, versionLine(version)) !== 0) return false;
  const ofHead = deleted === line.deleted && sizeBytes === line.sizeBytes && lineBytes === line.lineBytes;
  return ofHead && readVersionMeta(version).device_id === line.device;
}

/** Gathers the versions replaced by versions after the packs. */
function lookBehind(reader: CheckedReader, vaults: ReadonlyMap<string, PackedVault>): void {
  reader.eachKey(versions, ([vaultId, seq]) => {
    const vault = vaults.get(vaultId);
    if (vault === undefined || seq <= vault.upTo) return;
    const version = reader.view(versions, [vaultId, seq]);
    if (version !== undefined) vault.replaced.add(readVersionHead(version).previousSeq);
  });
}

/** Checks that every file covered by packs is alive in them, and nothing else. */
function checkCurrent(reader: CheckedReader, vaults: ReadonlyMap<string, PackedVault>, problems: string[]): void {
  const wanted = new Map<string, number>();
  reader.each(files, ({ key, value }) => {
    const vault = vaults.get(key[0]);
    if (vault === undefined || value.seq > vault.upTo) return;
    wanted.set(key[0], (wanted.get(key[0]) ?? 0) + 1);
    if (!vault.alive.has(value.seq)) problems.push(`packs ${key[0]}: ${foldCase(value.path)} is in no pack`);
  });
  for (const [vaultId, { alive, replaced }] of vaults) {
    const current = [...alive].filter((seq) => !replaced.has(seq)).length;
    const expected = wanted.get(vaultId) ?? 0;
    if (current !== expected) problems.push(`packs ${vaultId}: ${current} live lines for ${expected} current files`);
  }
}

/** Checks for rows without a pack. Returns the number of loose packs, which are not a fault. */
function checkStrays(reader: CheckedReader, named: ReadonlySet<number>, problems: string[]): number {
  reader.eachKey(packDead, ([vaultId, first]) => {
    if (reader.view(packs, [vaultId, first]) === undefined) {
      problems.push(`dead lines ${vaultId} ${first}: pack not found`);
    }
  });
  const loose = new Set<number>();
  reader.eachKey(loosePacks, ([packId]) => {
    loose.add(packId);
    if (named.has(packId)) problems.push(`pack ${packId}: both indexed and loose`);
  });
  reader.eachKey(packBytes, ([packId]) => {
    if (!named.has(packId) && !loose.has(packId)) problems.push(`pack ${packId}: its bytes are not indexed`);
  });
  return loose.size;
}
