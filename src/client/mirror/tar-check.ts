/**
 * Checks a tar before unpacking (POSIX ustar and pax, with GNU long names). Only files, folders and links inside the
 * folder are allowed: no hard links, devices or pipes, no path that leads out, nothing below a link. Pure.
 */
import { posix } from 'node:path';
import { ClientError } from '../client-error.ts';
import { shownLine } from '../shown.ts';

const BLOCK = 512;
const FILE = '0';
const LINK = '2';
const FOLDER = '5';

/** Throws ClientError at the first forbidden entry, or when the bytes are not a tar. */
export function checkTar(tar: Uint8Array): void {
  const links = new Set<string>();
  for (const { type, path, target } of entriesOf(Buffer.from(tar.buffer, tar.byteOffset, tar.byteLength))) {
    const refuse = (why: string) => new ClientError(`the archive is not unpacked: ${shownLine(path)} ${why}.`);
    if (type !== FILE && type !== FOLDER && type !== LINK)
      throw refuse('is neither a file, a folder nor a symbolic link');
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (path.startsWith('/') || path.includes('\0') || parts.includes('..')) throw refuse('leads out of the folder');
    const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    if (above.some((one, index) => links.has(one) && (index < parts.length - 1 || type !== LINK))) {
      throw refuse('is below a symbolic link');
    }
    if (type !== LINK) continue;
    if (!staysInside(parts.length - 1, target)) throw refuse('is a link that points outside the folder');
    links.add(parts.join('/'));
  }
}

/**
 * Requires every `..` at the start of the target, and none above the folder. Later in the path, a link on the way could
 * change where `..` leads.
 */
function staysInside(depth: number, target: string): boolean {
  if (target === '' || posix.isAbsolute(target) || target.includes('\0')) return false;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const ups = parts.findIndex((part) => part !== '..');
  const down = ups < 0 ? [] : parts.slice(ups);
  return (ups < 0 ? parts.length : ups) <= depth && !down.includes('..');
}

interface TarEntry {
  readonly type: string;
  readonly path: string;
  readonly target: string;
}

function* entriesOf(tar: Buffer): Generator<TarEntry> {
  let path: string | undefined;
  let target: string | undefined;
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const head = tar.subarray(at, at + BLOCK);
    if (head.every((byte) => byte === 0)) return;
    const size = sizeOf(head);
    const body = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (body.length < size) throw new ClientError('the archive is cut short.');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(head[156] ?? 0).replace('\0', FILE);
    if (type === 'x' || type === 'g') {
      const records = paxOf(body);
      // A global path would apply to every entry; git writes only a comment there.
      if (type === 'g' && (records.has('path') || records.has('linkpath'))) throw notTar();
      path = records.get('path') ?? path;
      target = records.get('linkpath') ?? target;
    } else if (type === 'L') path = textOf(body);
    else if (type === 'K') target = textOf(body);
    else {
      const [name, prefix] = [textOf(head.subarray(0, 100)), textOf(head.subarray(345, 500))];
      const isUstar = head.toString('latin1', 257, 262) === 'ustar' && head[262] === 0;
      const own = isUstar && prefix !== '' ? `${prefix}/${name}` : name;
      yield { type, path: path ?? own, target: target ?? textOf(head.subarray(157, 257)) };
      path = undefined;
      target = undefined;
    }
  }
}

function sizeOf(head: Buffer): number {
  const text = head
    .toString('latin1', 124, 136)
    .replace(/[\0 ]+$/, '')
    .trim();
  // Base-256 sizes are for files over 8 GiB, larger than any mirror accepts.
  if (!/^[0-7]{1,12}$/.test(text)) throw notTar();
  return Number.parseInt(text, 8);
}

/** Parses pax records: `LENGTH KEY=VALUE\n`, repeated; the length covers the whole record. */
function paxOf(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at);
    const length = Number(body.toString('latin1', at, blank));
    if (blank < 0 || !Number.isInteger(length) || length < 5 || at + length > body.length) throw notTar();
    const record = body.toString('utf8', blank + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

function notTar(): ClientError {
  return new ClientError(
    'what was decrypted is not a tar that can be checked; restore it with --encrypted and look at it by hand.',
  );
}
