/** Lists the files of a folder of notes: an Obsidian vault, or any folder of Markdown. */
import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientError } from '../client-error.ts';
import type { Imported, ImportedFile, ImportNotice } from './imported.ts';

/**
 * Lists the regular files below a folder, sorted. Files and folders whose names begin with a dot are left out, `.obsidian`
 * and `.trash` among them, and so are symbolic links. Throws ClientError when the folder cannot be read.
 */
export function filesOfFolder(folder: string): Imported<ImportedFile> {
  const items: ImportedFile[] = [];
  const notices: ImportNotice[] = [];
  const walk = (below: string) => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.name.startsWith('.')) notices.push(`${path} is left out: its name begins with a dot`);
      else if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) {
        const from = join(folder, path);
        items.push({ path, sizeBytes: statSync(from).size, read: () => readFile(from) });
      } else notices.push(`${path} is left out: it is not a file`);
    }
  };
  try {
    walk('');
  } catch (error) {
    throw new ClientError(`${folder} cannot be read: ${(error as Error).message}.`);
  }
  return { items: items.toSorted((a, b) => (a.path < b.path ? -1 : 1)), notices };
}
