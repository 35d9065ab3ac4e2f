/** Writes the vaults of an account into an archive: each log in its order, with every stored version. */
import { hash } from 'node:crypto';
import { nothingElse } from '../../archive/records.ts';
import type { ArchiveWriter, SectionWriter } from '../../archive/writer.ts';
import { intact } from '../../store/intact.ts';
import type { Snapshot } from '../../store/table.ts';
import { readChunkList } from '../log/large-content.ts';
import {
  type ConflictRecord,
  conflictBytes,
  conflicts,
  devices,
  fileChunks,
  files,
  pieces,
  vaultHeads,
  vaults,
  versions,
} from '../log/records.ts';
import { isWholeVersion } from '../log/stored-content.ts';
import {
  decodeContent,
  type Encoding,
  readContentText,
  readVersionHead,
  readVersionMeta,
  type VersionMeta,
  type WholeEncoding,
} from '../log/version.ts';
import type { VaultArchiveRecord } from './records.ts';

interface Output {
  readonly snapshot: Snapshot;
  readonly archive: ArchiveWriter;
  readonly write: SectionWriter<VaultArchiveRecord>['write'];
}

export function exportVaults(
  snapshot: Snapshot,
  accountId: string,
  archive: ArchiveWriter,
  { write }: SectionWriter<VaultArchiveRecord>,
): void {
  const output = { snapshot, archive, write };
  for (const { key, value } of snapshot.entries(vaults, { prefix: [accountId] })) {
    const [, vaultId] = key;
    const head = snapshot.get(vaultHeads, [vaultId]);
    write({
      type: 'vault',
      vault_id: vaultId,
      ...value,
      protected_paths: value.protected_paths === null ? null : [...value.protected_paths],
      clock_at: new Date(head?.hlc_ms ?? 0).toISOString(),
      clock_counter: head?.hlc_counter ?? 0,
    });
    for (const { key: named, value: seen } of snapshot.entries(devices, { prefix: [vaultId] })) {
      const { last_seen_ms: lastSeenMs, pulled_seq, pushed_seq, ...rest } = seen;
      nothingElse(rest);
      const last_seen_at = new Date(lastSeenMs).toISOString();
      write({ type: 'device', device_id: named[1], last_seen_at, pulled_seq, pushed_seq });
    }
    for (const { key: named, value: bytes } of snapshot.entries(versions, { prefix: [vaultId] })) {
      const escaped = () => escapedOf(snapshot, readVersionHead(bytes).storageId);
      if (isWholeVersion(bytes, escaped) && writeVersion(output, vaultId, bytes)) continue;
      archive.noteMissing(`version ${vaultId} ${named[1]}: it is damaged`);
      writeDeletion(output, vaultId, named[1]);
    }
    for (const { key: named, value: record } of snapshot.entries(conflicts, { prefix: [vaultId] })) {
      writeConflict(output, vaultId, named[1], record);
    }
  }
}

/** Writes a version as a pull returns it; a long content goes to the archive's blobs, outside of the line. */
function writeVersion(output: Output, vaultId: string, bytes: Uint8Array): boolean {
  const { snapshot, archive, write: writeTyped } = output;
  // A version is stored as the line that pulls return, so only its schema can tell what it is.
  const write: SectionWriter['write'] = writeTyped;
  let meta: VersionMeta;
  try {
    meta = readVersionMeta(bytes);
  } catch {
    // Not JSON any more: the caller notes the version.
    return false;
  }
  const { storageId, encoding } = readVersionHead(bytes);
  const content = readContentText(bytes, () => escapedOf(snapshot, storageId));
  if (content === undefined) return write({ ...meta });
  if (encoding === 'chunks') return writeChunks(output, vaultId, content) && write({ ...meta, content });
  if (storageId === 0) return write({ ...meta, content });
  archive.blob(meta.sha256, [decodeContent(content, encoding)]);
  return write({ ...meta, content_in_blobs: true });
}

/** Writes the chunks of a large file, each as a content of its own. False when one of them is damaged. */
function writeChunks({ snapshot, archive }: Output, vaultId: string, list: string): boolean {
  return (readChunkList(list) ?? []).every(({ sha256 }) => {
    const row = intact(snapshot, fileChunks, [vaultId, sha256]);
    return row !== undefined && archive.blob(sha256, [escapedOf(snapshot, row.storage_id)]);
  });
}

/** Writes a damaged deletion again, from the row of its path: without it the deleted file would be back. */
function writeDeletion({ snapshot, write }: Output, vaultId: string, seq: number): void {
  for (const { value } of snapshot.entries(files, { prefix: [vaultId] })) {
    if (value.seq !== seq || !value.deleted) continue;
    const at = new Date(value.stored_ms).toISOString();
    write({
      type: 'deleted',
      seq,
      path: value.path,
      sha256: value.sha256,
      git_sha: value.git_sha,
      hlc: value.hlc,
      size_bytes: 0,
      stored_at: at,
      deleted_at: at,
      device_id: value.device_id,
      remote_mtime: value.mtime,
      status: 'deleted',
    });
    return;
  }
}

function writeConflict(output: Output, vaultId: string, id: string, record: ConflictRecord): void {
  const { archive, write } = output;
  const { storage_id: storageId, escaped_bytes: _escaped, ...shown } = record;
  const line = { type: 'conflict' as const, conflict_id: id, ...shown };
  if (record.your_sha256 === null) {
    write(line);
    return;
  }
  if (record.encoding === 'chunks') {
    const content = escapedOf(output.snapshot, storageId).toString('latin1');
    if (readChunkList(content) !== undefined && writeChunks(output, vaultId, content)) write({ ...line, content });
    else archive.noteMissing(`conflict ${vaultId} ${id}: its content is damaged`);
    return;
  }
  const bytes = conflictContent(output.snapshot, vaultId, id, { ...record, encoding: record.encoding });
  if (bytes === undefined || hash('sha256', bytes) !== record.your_sha256) {
    archive.noteMissing(`conflict ${vaultId} ${id}: its content is damaged`);
  } else if (storageId === 0) write({ ...line, content: textOf(bytes, record.encoding) });
  else {
    archive.blob(record.your_sha256, [bytes]);
    write({ ...line, content_in_blobs: true });
  }
}

/** The content of a refused push; undefined when it is missing, or not the inside of a JSON string any more. */
function conflictContent(
  snapshot: Snapshot,
  vaultId: string,
  id: string,
  { storage_id: storageId, encoding }: { readonly storage_id: number; readonly encoding: WholeEncoding },
): Uint8Array | undefined {
  if (storageId === 0) return snapshot.get(conflictBytes, [vaultId, id]);
  try {
    return decodeContent(JSON.parse(`"${escapedOf(snapshot, storageId).toString('utf8')}"`) as string, encoding);
  } catch {
    // A flipped bit can end the string early.
    return undefined;
  }
}

function textOf(bytes: Uint8Array, encoding: Encoding): string {
  return Buffer.from(bytes).toString(encoding === 'base64' ? 'base64' : 'utf8');
}

function escapedOf(snapshot: Snapshot, storageId: number): Buffer {
  return Buffer.concat([...snapshot.entries(pieces, { prefix: [storageId] })].map(({ value }) => value));
}
