/** Writes the vaults of an account into an archive: each log in its order, with every stored version. */
import type { ArchiveWriter, WriteRecord } from '../../archive/writer.ts';
import type { Snapshot } from '../../store/table.ts';
import {
  type ConflictRecord,
  conflictBytes,
  conflicts,
  devices,
  type Encoding,
  pieces,
  vaultHeads,
  vaults,
  versions,
} from '../log/records.ts';
import { isWholeVersion } from '../log/stored-content.ts';
import { decodeContent, readContentText, readVersionHead, readVersionMeta } from '../log/version.ts';

/** The source and the destination of an export. */
interface Output {
  readonly snapshot: Snapshot;
  readonly archive: ArchiveWriter;
  readonly write: WriteRecord;
}

export function exportVaults(snapshot: Snapshot, accountId: string, archive: ArchiveWriter, write: WriteRecord): void {
  const output = { snapshot, archive, write };
  for (const { key, value } of snapshot.entries(vaults, { prefix: [accountId] })) {
    const [, vaultId] = key;
    const head = snapshot.get(vaultHeads, [vaultId]);
    write({
      type: 'vault',
      vault_id: vaultId,
      ...value,
      clock_at: new Date(head?.hlc_ms ?? 0).toISOString(),
      clock_counter: head?.hlc_counter ?? 0,
    });
    for (const { key: named, value: seen } of snapshot.entries(devices, { prefix: [vaultId] })) {
      const { last_seen_ms: lastSeenMs, pulled_seq, pushed_seq } = seen;
      const last_seen_at = new Date(lastSeenMs).toISOString();
      write({ type: 'device', device_id: named[1], last_seen_at, pulled_seq, pushed_seq });
    }
    for (const { key: named, value: bytes } of snapshot.entries(versions, { prefix: [vaultId] })) {
      const escaped = () => escapedOf(snapshot, readVersionHead(bytes).storageId);
      if (isWholeVersion(bytes, escaped)) writeVersion(output, bytes);
      else archive.noteMissing(`version ${vaultId} ${named[1]}: its content is damaged`);
    }
    for (const { key: named, value: record } of snapshot.entries(conflicts, { prefix: [vaultId] })) {
      writeConflict(output, vaultId, named[1], record);
    }
  }
}

/** Writes a version as a pull returns it; a long content goes to the archive's blobs, outside of the line. */
function writeVersion({ snapshot, archive, write }: Output, bytes: Uint8Array): void {
  const meta = readVersionMeta(bytes);
  const { storageId, encoding } = readVersionHead(bytes);
  const content = readContentText(bytes, () => escapedOf(snapshot, storageId));
  if (content === undefined) write(meta);
  else if (storageId === 0) write({ ...meta, content });
  else {
    archive.blob(meta.sha256, [decodeContent(content, encoding)]);
    write({ ...meta, content_in_blobs: true });
  }
}

function writeConflict(
  { snapshot, archive, write }: Output,
  vaultId: string,
  id: string,
  record: ConflictRecord,
): void {
  const { storage_id: storageId, escaped_bytes: _escaped, ...shown } = record;
  const line = { type: 'conflict', conflict_id: id, ...shown };
  if (record.your_sha256 === null) write(line);
  else if (storageId === 0) {
    const bytes = snapshot.get(conflictBytes, [vaultId, id]);
    if (bytes === undefined) throw new Error(`the bytes of conflict ${id} are missing; run cairn verify`);
    write({ ...line, content: textOf(bytes, record.encoding) });
  } else {
    const content = JSON.parse(`"${escapedOf(snapshot, storageId).toString('utf8')}"`) as string;
    archive.blob(record.your_sha256, [decodeContent(content, record.encoding)]);
    write({ ...line, content_in_blobs: true });
  }
}

function textOf(bytes: Uint8Array, encoding: Encoding): string {
  return Buffer.from(bytes).toString(encoding === 'base64' ? 'base64' : 'utf8');
}

function escapedOf(snapshot: Snapshot, storageId: number): Buffer {
  return Buffer.concat([...snapshot.entries(pieces, { prefix: [storageId] })].map(({ value }) => value));
}
