/** Writes the current files of all vaults of an archive as plain files, and open conflicts beside them. */
import { readRecord } from '../../archive/format.ts';
import type { ArchiveReader } from '../../archive/reader.ts';
import { limits } from '../../limits/service.ts';
import { readChunkList } from '../../sync/log/large-content.ts';
import {
  type ConflictLine,
  type FileLine,
  type VaultArchiveRecord,
  vaultRecordSchema,
} from '../../sync/portable/records.ts';
import type { PlainFolder } from './folder.ts';
import { FolderNames } from './names.ts';

const FILES = 'files';
const CONFLICTS = 'conflicts';

/** Two passes: the first finds the newest version of each path, the second writes it. */
export async function writeVaults(archive: ArchiveReader, out: PlainFolder): Promise<void> {
  const newest = await newestVersions(archive);
  const names = new FolderNames();
  let [vaultId, vault] = ['', ''];
  let conflictNames = new FolderNames();
  for await (const line of linesOf(archive)) {
    if (line.type === 'vault') {
      [vaultId, vault] = [line.vault_id, names.give(line.name, '')];
      conflictNames = new FolderNames();
    } else if (line.type === 'file') {
      if (newest.get(keyOf(vaultId, line.path)) !== line.seq) continue;
      await out.write(`${FILES}/${vault}/${line.path}`, bytesOf(archive, line.sha256, line), {
        modified: line.remote_mtime ?? line.stored_at,
        executable: line.executable === true,
      });
    } else if (line.type === 'conflict' && line.status === 'pending' && line.your_sha256 !== null) {
      const dot = line.path.lastIndexOf('.');
      const [base, end] =
        dot > line.path.lastIndexOf('/') + 1 ? [line.path.slice(0, dot), line.path.slice(dot)] : [line.path, ''];
      const name = conflictNames.give(`${base.replaceAll('/', ' › ')}, ${line.device_id}`, end);
      await out.write(`${CONFLICTS}/${vault}/${name}`, bytesOf(archive, line.your_sha256, line), {
        modified: line.detected_at,
      });
    }
  }
}

/** The `seq` of the current version of each path. A deleted path has none, so a later one counts. */
async function newestVersions(archive: ArchiveReader): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>();
  let vaultId = '';
  for await (const line of linesOf(archive)) {
    if (line.type === 'vault') vaultId = line.vault_id;
    else if (line.type === 'file') newest.set(keyOf(vaultId, line.path), line.seq);
    else if (line.type === 'deleted') newest.delete(keyOf(vaultId, line.path));
  }
  return newest;
}

const keyOf = (vaultId: string, path: string): string => `${vaultId}/${path}`;

async function* linesOf(archive: ArchiveReader): AsyncGenerator<VaultArchiveRecord> {
  const schema = vaultRecordSchema(Number.POSITIVE_INFINITY);
  for await (const { document } of archive.lines('vaults')) yield readRecord(schema, document);
}

async function* bytesOf(
  archive: ArchiveReader,
  sha256: string,
  line: Pick<FileLine | ConflictLine, 'content' | 'content_in_blobs' | 'encoding' | 'size_bytes'>,
): AsyncGenerator<Uint8Array> {
  if (line.encoding === 'chunks') {
    for (const chunk of readChunkList(line.content ?? '') ?? []) {
      yield* archive.blob(chunk.sha256, chunk.bytes, limits.exportPieceBytes);
    }
  } else if (line.content !== undefined)
    yield Buffer.from(line.content, line.encoding === 'base64' ? 'base64' : 'utf8');
  else if (line.content_in_blobs === true) yield* archive.blob(sha256, line.size_bytes, limits.exportPieceBytes);
}
