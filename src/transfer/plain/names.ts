/** Names of files for people, made from titles: valid on Linux, macOS and Windows, and no two alike in a folder. Pure. */
import { foldCase } from '../../text/fold-case.ts';

/** In UTF-8: 255 is the limit of most disks, and a number and an extension follow. */
const NAME_BYTES_MAX = 200;
/** What Windows, macOS or Linux accept in no name, and what a shell or a person cannot see. */
const FORBIDDEN = /[\p{Cc}"*/:<>?\\|]+/gu;
/** Devices of Windows, whatever the extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/iu;
const EXTENSION = /\.[A-Za-z0-9]{1,8}$/u;

/** Returns a name for a file or folder from any text, at most 200 bytes long. An empty one becomes `untitled`. */
export function plainName(text: string): string {
  const cleaned = cut(text.normalize('NFC').replace(FORBIDDEN, ' ').replace(/\s+/gu, ' ').trim())
    .replace(/[. ]+$/u, '')
    .replace(/^\.+$/u, '');
  if (cleaned === '') return 'untitled';
  return DEVICE.test(cleaned) ? `${cleaned}_` : cleaned;
}

/** Cuts between two characters. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= NAME_BYTES_MAX) return text;
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > NAME_BYTES_MAX) break;
    kept += character;
  }
  return kept;
}

/** Gives out the names of one folder, each once: `Plan.md`, then `plan (2).md`. */
export class FolderNames {
  readonly #taken = new Set<string>();

  /** `extension` is added unless the text ends with one of its own. */
  give(text: string, extension: string): string {
    const wanted = plainName(text);
    const own = extension === '' ? undefined : EXTENSION.exec(wanted)?.[0];
    const base = own === undefined ? wanted : wanted.slice(0, -own.length);
    const end = own ?? extension;
    let name = `${base}${end}`;
    for (let count = 2; this.#taken.has(foldCase(name)); count += 1) name = `${base} (${count})${end}`;
    this.#taken.add(foldCase(name));
    return name;
  }
}
