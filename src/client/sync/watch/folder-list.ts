/** Reads the list of folders for `cairn sync watch --all`: `sync.json` beside the stored sign-ins. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { ClientError } from '../../client-error.ts';

const listSchema = z.strictObject({
  folders: z
    .array(
      z.strictObject({
        folder: z.string().min(1),
        vault: z.string().optional(),
        server: z.string().optional(),
        only: z.array(z.string()).optional(),
        limit_upload: z.string().optional(),
        limit_download: z.string().optional(),
      }),
    )
    .min(1),
});

export type ListedFolder = z.infer<typeof listSchema>['folders'][number];

const EXAMPLE = '{"folders": [{"folder": "~/notes", "vault": "notes"}]}';

/** The folders in the file, with `~/` resolved. Throws ClientError with an example when it is missing or invalid. */
export function readFolderList(file: string): readonly ListedFolder[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new ClientError(`${file} cannot be read. Create it, for example with: ${EXAMPLE}`);
  }
  const { folders } = parse(text, file);
  const resolved = folders.map((one) => ({ ...one, folder: one.folder.replace(/^~(?=\/|$)/, homedir()) }));
  const relative = resolved.find(({ folder }) => !isAbsolute(folder));
  if (relative !== undefined) throw new ClientError(`${file}: ${relative.folder} must be absolute, or begin with ~/.`);
  const names = new Set(resolved.map(({ folder }) => join(folder)));
  if (names.size < resolved.length) throw new ClientError(`${file} lists a folder twice; remove one of them.`);
  return resolved;
}

function parse(text: string, file: string): z.infer<typeof listSchema> {
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
