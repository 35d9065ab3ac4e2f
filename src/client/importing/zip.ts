/** Lists the files of a ZIP archive, also of archives inside it, as large exports of Notion come in parts. */
import type { Entry, ZipFile } from 'yauzl';
import { fromBufferPromise, openPromise } from 'yauzl';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import type { Imported, ImportedFile, ImportNotice } from './imported.ts';

/** An archive inside an archive is read whole, so it has a maximum. */
const INNER_BYTES_MAX = 2 ** 30;

/**
 * Opens a ZIP archive. Unpacks nothing until a file is read, and reads at most the size that the archive declares. Throws
 * ClientError when it is not one, or when a name in it leads outside (the library refuses such names).
 */
export async function openZip(path: string): Promise<Imported<ImportedFile>> {
  const opened: ZipFile[] = [];
  const close = () => {
    for (const zip of opened) zip.close();
  };
  try {
    const zip = await openPromise(path, { autoClose: false });
    opened.push(zip);
    const notices: ImportNotice[] = [];
    return { items: await filesOf(zip, opened, notices), notices, close };
  } catch (error) {
    close();
    if (error instanceof ClientError) throw error;
    throw new ClientError(`${path} cannot be read as a ZIP archive: ${(error as Error).message}.`);
  }
}

async function filesOf(zip: ZipFile, opened: ZipFile[], notices: ImportNotice[]): Promise<ImportedFile[]> {
  const found: ImportedFile[] = [];
  for await (const entry of zip.eachEntry()) {
    const path = entry.fileName;
    if (path.endsWith('/')) continue;
    if (entry.isEncrypted()) notices.push(`${path} is left out: it is protected by a password`);
    else if (!path.toLowerCase().endsWith('.zip')) {
      found.push({ path, sizeBytes: entry.uncompressedSize, read: () => bytesOf(zip, entry, limits.fileBytesMax) });
    } else if (zip !== opened[0]) notices.push(`${path} is left out: it is an archive in an archive`);
    else {
      const inner = await fromBufferPromise(await bytesOf(zip, entry, INNER_BYTES_MAX), { autoClose: false });
      opened.push(inner);
      found.push(...(await filesOf(inner, opened, notices)));
    }
  }
  return found;
}

async function bytesOf(zip: ZipFile, entry: Entry, bytesMax: number): Promise<Buffer> {
  if (entry.uncompressedSize > bytesMax) {
    throw new ClientError(`${entry.fileName} has ${entry.uncompressedSize} bytes; at most ${bytesMax} can be read.`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
