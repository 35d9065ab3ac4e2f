/** Downloads a folder as one tar archive, created while it is sent, with one file in memory at a time. */
import { Refusal } from '../../../common/fault.ts';
import type { ByteSource } from '../../../http/reply/body.ts';
import { empty, feed, type Reply } from '../../../http/reply/reply.ts';
import type { Route } from '../../../http/route/route.ts';
import { limits } from '../../../limits/service.ts';
import type { VaultOf } from '../../../sync/log/reader.ts';
import type { Sync } from '../../../sync/service.ts';
import { encodeExtValue } from '../../../text/ext-value.ts';
import { downloadHeaders } from '../../download-headers.ts';
import type { MemberVisit } from '../../pages.ts';
import { type VaultOptions, vaultOfVisit } from '../access.ts';
import { vaultFolderOf } from '../files.ts';
import { nameOf } from '../paths.ts';
import { TAR_END, tarFeed, tarHeader, tarPadding } from './tar.ts';

export function archiveRoute(options: VaultOptions): Route {
  return options.pages.member('/vaults/:vault/tar', (visit) => sendFolder(options, visit));
}

/** Throws Refusal `not_found`, or `overloaded` while too many downloads run. */
function sendFolder({ sync, downloads }: VaultOptions, visit: MemberVisit): Reply {
  const { accountId, request } = visit;
  const vault = vaultOfVisit(sync, accountId, request.params['vault']);
  const folder = vaultFolderOf(request.query.get('folder') ?? '');
  if (!sync.reading.folders.has(vault.id, folder.folded)) {
    throw new Refusal({ kind: 'not_found', what: 'there is no such folder' });
  }
  const name = folder.path === '' ? rootName(vault.record.name) : nameOf(folder.path);
  const disposition = `attachment; filename="folder.tar"; filename*=${encodeExtValue(`${name}.tar`)}`;
  const headers = downloadHeaders('application/x-tar', disposition);
  if (request.isHead) return empty(200, headers);
  // Reserves the maximum size of a file, because one file at a time is in memory.
  const release = downloads.take(request.caller, limits.fileBytesMax);
  const archive = tarFeed(entriesOf(sync, { accountId, vaultId: vault.id }, folder, name));
  request.linger(limits.folderDownloadSeconds, () => {
    archive.stop();
    release();
  });
  return feed(200, archive, headers);
}

/** Returns the folder that a whole vault unpacks into. A vault may have any name, such as `..` or one with slashes. */
function rootName(vaultName: string): string {
  const name = vaultName.replace(/[/\\]/g, '_');
  return /^\.*$/.test(name) ? 'vault' : name;
}

interface Folder {
  readonly path: string;
  readonly folded: string;
}

/** Reads each file when it is its turn, and skips files deleted by then. */
async function* entriesOf(
  { reading, reader, chunks }: Sync,
  of: VaultOf,
  { path, folded }: Folder,
  name: string,
): AsyncGenerator<readonly Uint8Array[]> {
  // The folder's own name comes first, so that the files unpack into one folder. Counted in parts: files of one folder may
  // spell it in different ways, and those differ in length.
  const depth = path === '' ? 0 : path.split('/').length - 1;
  for await (const { file } of reading.fileLists.walk(of, folded === '' ? '' : `${folded}/`)) {
    if (file.deleted) continue;
    const inside = path === '' ? `${name}/${file.path}` : file.path.split('/').slice(depth).join('/');
    const list = reader.chunksOf(of.vaultId, file.seq);
    if (list !== undefined) {
      yield* largeEntry(chunks.source(of.vaultId, list), inside, file.stored_ms);
      continue;
    }
    const content = reader.content(of.vaultId, file.seq);
    if (content === undefined) continue;
    yield [tarHeader(inside, content.length, file.stored_ms), content, tarPadding(content.length)];
  }
  yield [TAR_END];
}

/** A large file, in portions. */
function* largeEntry(source: ByteSource, inside: string, storedMs: number): Generator<readonly Uint8Array[]> {
  yield [tarHeader(inside, source.bytesTotal, storedMs)];
  for (let offset = 0; offset < source.bytesTotal; ) {
    const portion = Uint8Array.from(source.read(offset));
    offset += portion.length;
    yield [portion];
  }
  yield [tarPadding(source.bytesTotal)];
}
