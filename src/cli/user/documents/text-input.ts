/** Reads the text for a command: from a file, standard input or an editor. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ClientError } from '../../../client/client-error.ts';

/** The setting may contain arguments ("code --wait"), so a shell interprets it, as in git. */
const OPEN_EDITOR =
  'editor=$VISUAL; [ -n "$editor" ] || editor=$EDITOR; [ -n "$editor" ] || editor=vi; eval "$editor \\"\\$1\\""';

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; check the path.',
  EISDIR: 'it is a folder; name a file.',
  EACCES: 'you are not permitted to; change its permissions.',
};

/** Reads a text file; `-` or undefined means standard input. Throws ClientError when it is unreadable or not UTF-8. */
export async function readDocumentText(file: string | undefined): Promise<string> {
  if (file === undefined || file === '-') return decode(await buffer(process.stdin), 'standard input');
  try {
    return decode(readFileSync(file), file);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError(
      `cannot read ${file}: ${WHY[String((error as NodeJS.ErrnoException).code)] ?? String(error)}`,
    );
  }
}

/** A text edited in a temporary file readable only by this user. */
export interface Edited {
  readonly text: string;
  /** Path of the temporary file until `discard`. */
  readonly path: string;
  discard(): void;
}

/**
 * Opens a text in $VISUAL or $EDITOR (default: vi) and waits until it is closed. The file extension comes from `name`.
 * Throws ClientError when the editor fails; the temporary file then stays.
 */
export function editText(name: string, text: string): Edited {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-edit-'));
  const path = join(folder, name.replace(/[^\w.-]+/g, '-').slice(-64));
  writeFileSync(path, text, { mode: 0o600 });
  const { status } = spawnSync('sh', ['-c', OPEN_EDITOR, 'sh', path], { stdio: 'inherit' });
  if (status !== 0) throw new ClientError(`the editor failed, so nothing was saved; your text is in ${path}`);
  return {
    text: decode(readFileSync(path), path),
    path,
    discard: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ClientError(`${what} is not UTF-8 text; convert it first`);
  }
}
