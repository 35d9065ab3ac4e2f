/** The list of folders for `cairn sync watch --all`: `sync.json` beside the stored sign-ins, by hand or by `cairn sync add`. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { ClientError } from '../../client-error.ts';
import { withFileLock } from '../../file-lock.ts';
import { writePrivateFile } from '../../private-file.ts';

const listSchema = z.strictObject({
  folders: z.array(
    z.strictObject({
      folder: z.string().min(1),
      vault: z.string().optional(),
      server: z.string().optional(),
      only: z.array(z.string()).optional(),
      limit_upload: z.string().optional(),
      limit_download: z.string().optional(),
    }),
  ),
});

type FolderList = z.infer<typeof listSchema>;
export type ListedFolder = FolderList['folders'][number];

const EXAMPLE = '{"folders": [{"folder": "~/notes", "vault": "notes"}]}';

/** The folders in the file, with `~/` resolved. Throws ClientError with the next step when it is missing or invalid. */
export function readFolderList(file: string): readonly ListedFolder[] {
  const folders = knownFolders(file);
  if (folders === undefined)
    throw new ClientError(`${file} cannot be read. To list a folder in it: cairn sync add DIR --vault NAME`);
  return folders;
}

/** Like `readFolderList`; undefined when there is no file. */
export function knownFolders(file: string): readonly ListedFolder[] | undefined {
  const list = readList(file);
  if (list === undefined) return undefined;
  const resolved = list.folders.map((one) => ({ ...one, folder: resolvedFolder(one) }));
  const relative = resolved.find(({ folder }) => !isAbsolute(folder));
  if (relative !== undefined) throw new ClientError(`${file}: ${relative.folder} must be absolute, or begin with ~/.`);
  const names = new Set(resolved.map(({ folder }) => join(folder)));
  if (names.size < resolved.length) throw new ClientError(`${file} lists a folder twice; remove one of them.`);
  return resolved;
}

/** Adds a folder to the list, or replaces its entry. Resolves with true when it was not in the list. Throws ClientError. */
export async function addToList(file: string, added: ListedFolder): Promise<boolean> {
  return await changeList(file, ({ folders }) => {
    const others = folders.filter((one) => !isSame(one, added.folder));
    return [{ folders: [...others, added] }, others.length === folders.length];
  });
}

/** Takes a folder off the list. Resolves with false when it was not there. Throws ClientError. */
export async function removeFromList(file: string, folder: string): Promise<boolean> {
  return await changeList(file, ({ folders }) => {
    const others = folders.filter((one) => !isSame(one, folder));
    return [{ folders: others }, others.length < folders.length];
  });
}

async function changeList<T>(file: string, change: (list: FolderList) => [FolderList, T]): Promise<T> {
  return await withFileLock(file, async () => {
    const [next, result] = change(readList(file) ?? { folders: [] });
    writePrivateFile(file, `${JSON.stringify(next, null, 2)}\n`);
    return result;
  });
}

const resolvedFolder = ({ folder }: ListedFolder): string => folder.replace(/^~(?=\/|$)/, homedir());

const isSame = (one: ListedFolder, folder: string): boolean => join(resolvedFolder(one)) === join(folder);

function readList(file: string): FolderList | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ClientError(`${file} cannot be read (${code}).`);
  }
  return parse(text, file);
}

function parse(text: string, file: string): FolderList {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new ClientError(`${file} is not valid JSON (${(error as Error).message}). Example: ${EXAMPLE}`);
  }
  const parsed = listSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new ClientError(`${file} is wrong${at === '' ? '' : ` at ${at}`}. Example: ${EXAMPLE}`);
}
