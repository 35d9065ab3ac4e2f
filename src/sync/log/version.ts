/**
 * Encodes and decodes the bytes of a version: a head of fixed layout, then the finished NDJSON line, whose content
 * comes last so that the metadata can be read without it. A long content is stored in separate pieces, and the line
 * ends where they belong. Pure.
 *
 * Head, little endian: u8 layout, u8 flags, u16 0, u32 bytes of metadata, then f64 each: previous version of the path
 * (0: none), stored (ms), content bytes, line bytes, storage id (0: content inline); 32 bytes SHA-256, 20 bytes git
 * blob id.
 */

/** How a content that is sent whole is written. */
export type WholeEncoding = 'utf-8' | 'base64';
/** `chunks`: the content is the list of the chunks of a large file (chunk-list.ts). */
export type Encoding = WholeEncoding | 'chunks';

export const VERSION_HEAD_BYTES = 100;
const LAYOUT = 1;
const DELETED = 1;
const BASE64 = 2;
const IN_PIECES = 4;
/** The file had another path before. Not set in versions from before this flag existed. */
const MOVED = 8;
/** The content is a list of chunks. */
const CHUNKS = 16;
/** Continues the line after the metadata when the content is in pieces; `CONTENT_CLOSE` ends that line after them. */
const CONTENT_OPEN = ',"content":"';
export const CONTENT_CLOSE: Uint8Array = Buffer.from('"}\n');
/** Bytes of a line besides its metadata and the pieces of its content. */
export const AROUND_PIECES_BYTES = CONTENT_OPEN.length + CONTENT_CLOSE.length;
const TOMBSTONE_CLOSE = '}\n';

export type VersionStatus = 'created' | 'updated' | 'renamed' | 'restored' | 'deleted';

/** The fields of a line besides its content. */
export interface VersionMeta {
  readonly type: 'file' | 'deleted';
  readonly seq: number;
  readonly path: string;
  /** For a tombstone: of the deleted content. */
  readonly sha256: string;
  readonly git_sha: string;
  readonly hlc: string;
  readonly size_bytes: number;
  readonly stored_at: string;
  /** Only for a tombstone. */
  readonly deleted_at?: string;
  readonly device_id: string;
  readonly remote_mtime: string | null;
  readonly status: VersionStatus;
  /** Only for a file that may be run as a program. */
  readonly executable?: true;
  /** The earlier path, if this version renamed or respelled the file. */
  readonly renamed_from?: string;
  /** Only for content that is not text. */
  readonly encoding?: Exclude<Encoding, 'utf-8'>;
}

export interface VersionHead {
  readonly deleted: boolean;
  /** The file had the path in `renamed_from` before. The tombstone there is the change before this one (`seq - 1`). */
  readonly moved: boolean;
  readonly encoding: Encoding;
  readonly metaBytes: number;
  readonly previousSeq: number;
  readonly storedMs: number;
  readonly sizeBytes: number;
  readonly lineBytes: number;
  /** 0: the content is inline. */
  readonly storageId: number;
}

/** The content of a new version: a JSON string to write after the metadata, or pieces that are already stored. */
export type StoredContent =
  | { readonly kind: 'inline'; readonly json: string }
  | { readonly kind: 'pieces'; readonly storageId: number; readonly escapedBytes: number };

/** Metadata before encoding: undefined fields are left out of the line. */
export type NewMeta = { readonly [field in keyof Required<VersionMeta>]: VersionMeta[field] | undefined } & {
  readonly [field in RequiredField]: VersionMeta[field];
};

type RequiredField = Exclude<keyof VersionMeta, 'deleted_at' | 'executable' | 'renamed_from' | 'encoding'>;

export interface NewVersion {
  readonly meta: NewMeta;
  readonly storedMs: number;
  readonly previousSeq: number;
  readonly moved: boolean;
  /** Undefined: a tombstone. */
  readonly content: StoredContent | undefined;
}

/** Returns the bytes of a version, and the length of its whole line in bytes. */
export function encodeVersion({ meta, storedMs, previousSeq, moved, content }: NewVersion) {
  const text = metaText(meta);
  // A long text is not joined with what is around it: that would copy it once more.
  const [open, json, close] = tailTexts(content);
  const textBytes = Buffer.byteLength(text);
  const jsonBytes = Buffer.byteLength(json);
  const tailBytes = open.length + jsonBytes + close.length;
  const bytes = Buffer.allocUnsafe(VERSION_HEAD_BYTES + textBytes + tailBytes);
  const inPieces = content?.kind === 'pieces';
  const lineBytes = textBytes + tailBytes + (inPieces ? content.escapedBytes + CONTENT_CLOSE.length : 0);
  const written = meta.encoding === 'base64' ? BASE64 : meta.encoding === 'chunks' ? CHUNKS : 0;
  bytes[0] = LAYOUT;
  const kind = (content === undefined ? DELETED : 0) | written;
  bytes[1] = kind | (inPieces ? IN_PIECES : 0) | (moved ? MOVED : 0);
  bytes.writeUInt16LE(0, 2);
  bytes.writeUInt32LE(textBytes, 4);
  bytes.writeDoubleLE(previousSeq, 8);
  bytes.writeDoubleLE(storedMs, 16);
  bytes.writeDoubleLE(meta.size_bytes, 24);
  bytes.writeDoubleLE(lineBytes, 32);
  bytes.writeDoubleLE(inPieces ? content.storageId : 0, 40);
  bytes.write(meta.sha256, 48, 32, 'hex');
  bytes.write(meta.git_sha, 80, 20, 'hex');
  bytes.write(text, VERSION_HEAD_BYTES, textBytes, 'utf8');
  const tailAt = VERSION_HEAD_BYTES + textBytes;
  bytes.write(open, tailAt, 'latin1');
  bytes.write(json, tailAt + open.length, jsonBytes, 'utf8');
  bytes.write(close, tailAt + open.length + jsonBytes, 'latin1');
  return { bytes, lineBytes };
}

/** The part of a line after its metadata: ASCII, the JSON of the content, ASCII. */
function tailTexts(content: StoredContent | undefined): readonly [open: string, json: string, close: string] {
  if (content === undefined) return ['', '', TOMBSTONE_CLOSE];
  return content.kind === 'inline' ? [',"content":', content.json, TOMBSTONE_CLOSE] : [CONTENT_OPEN, '', ''];
}

/** The metadata as JSON, without the closing brace. Only strings sent by a client need escaping. */
function metaText(meta: NewMeta): string {
  const { type, seq, path, sha256, git_sha: gitSha, hlc, size_bytes: size, stored_at: storedAt, status } = meta;
  const {
    deleted_at: deletedAt,
    device_id: device,
    remote_mtime: mtime,
    renamed_from: from,
    encoding,
    executable,
  } = meta;
  return (
    `{"type":"${type}","seq":${seq},"path":${JSON.stringify(path)},"sha256":"${sha256}","git_sha":"${gitSha}"` +
    `,"hlc":${JSON.stringify(hlc)},"size_bytes":${size},"stored_at":"${storedAt}"` +
    (deletedAt === undefined ? '' : `,"deleted_at":"${deletedAt}"`) +
    `,"device_id":${JSON.stringify(device)},"remote_mtime":${JSON.stringify(mtime)},"status":"${status}"` +
    (executable === undefined ? '' : ',"executable":true') +
    (from === undefined ? '' : `,"renamed_from":${JSON.stringify(from)}`) +
    (encoding === undefined ? '' : `,"encoding":"${encoding}"`)
  );
}

/** Reads the head of a version in place. Throws on a layout unknown to this build. */
export function readVersionHead(bytes: Uint8Array): VersionHead {
  const view = new DataView(bytes.buffer, bytes.byteOffset, VERSION_HEAD_BYTES);
  if (view.getUint8(0) !== LAYOUT)
    throw new Error(`a version has layout ${view.getUint8(0)}, this build reads ${LAYOUT}`);
  const flags = view.getUint8(1);
  return {
    deleted: (flags & DELETED) !== 0,
    moved: (flags & MOVED) !== 0,
    encoding: (flags & CHUNKS) !== 0 ? 'chunks' : (flags & BASE64) === 0 ? 'utf-8' : 'base64',
    metaBytes: view.getUint32(4, true),
    previousSeq: view.getFloat64(8, true),
    storedMs: view.getFloat64(16, true),
    sizeBytes: view.getFloat64(24, true),
    lineBytes: view.getFloat64(32, true),
    storageId: view.getFloat64(40, true),
  };
}

/** SHA-256 from the head, in lower-case hex. */
export function versionSha256(bytes: Uint8Array): string {
  return asBuffer(bytes, 48, 80).toString('hex');
}

/** Git blob id from the head, in lower-case hex. */
export function versionGitSha(bytes: Uint8Array): string {
  return asBuffer(bytes, 80, VERSION_HEAD_BYTES).toString('hex');
}

/** A view of the line, or of its first part when the content is in pieces. */
export function versionLine(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(VERSION_HEAD_BYTES);
}

/** The content of an inline version as in its line: the part that its SHA-256 covers. Never throws. */
export function hashedPartOf(bytes: Uint8Array): readonly [from: number, to: number] {
  const end = bytes.length;
  if (end < VERSION_HEAD_BYTES || ((bytes[1] ?? 0) & (DELETED | IN_PIECES)) !== 0) return [end, end];
  const metaBytes = new DataView(bytes.buffer, bytes.byteOffset, VERSION_HEAD_BYTES).getUint32(4, true);
  const [from, to] = [VERSION_HEAD_BYTES + metaBytes + CONTENT_OPEN.length, end - CONTENT_CLOSE.length];
  return from <= to ? [from, to] : [end, end];
}

/** Length in bytes of the line of a file without its content. */
export function briefLineBytes({ metaBytes }: VersionHead): number {
  return metaBytes + TOMBSTONE_CLOSE.length;
}

/** The line of a file without its content. */
export function briefLineOf(bytes: Uint8Array): Uint8Array {
  const { metaBytes } = readVersionHead(bytes);
  return Buffer.concat([
    asBuffer(bytes, VERSION_HEAD_BYTES, VERSION_HEAD_BYTES + metaBytes),
    Buffer.from(TOMBSTONE_CLOSE),
  ]);
}

/** Reads the fields of the line besides its content. */
export function readVersionMeta(bytes: Uint8Array): VersionMeta {
  const end = VERSION_HEAD_BYTES + readVersionHead(bytes).metaBytes;
  return JSON.parse(`${asBuffer(bytes, VERSION_HEAD_BYTES, end).toString('utf8')}}`) as VersionMeta;
}

/**
 * The content as in the line (base64 not decoded), from a version and, if it has any, its pieces. Undefined for a
 * tombstone.
 */
export function readContentText(bytes: Uint8Array, escaped: () => Uint8Array): string | undefined {
  const { deleted, metaBytes, storageId } = readVersionHead(bytes);
  if (deleted) return undefined;
  if (storageId !== 0) return JSON.parse(`"${asBuffer(escaped()).toString('utf8')}"`) as string;
  return JSON.parse(contentJson(bytes, metaBytes)) as string;
}

/** The content of an inline version as JSON: from the quote after `"content":` to the brace before the newline. */
function contentJson(bytes: Uint8Array, metaBytes: number): string {
  const from = VERSION_HEAD_BYTES + metaBytes + CONTENT_OPEN.length - 1;
  return asBuffer(bytes, from, bytes.length - TOMBSTONE_CLOSE.length).toString('utf8');
}

/** The content of a version, ready to be stored again. Undefined for a tombstone. */
export function storedContentOf(bytes: Uint8Array): StoredContent | undefined {
  const { deleted, metaBytes, lineBytes, storageId } = readVersionHead(bytes);
  if (deleted) return undefined;
  if (storageId === 0) return { kind: 'inline', json: contentJson(bytes, metaBytes) };
  return { kind: 'pieces', storageId, escapedBytes: lineBytes - metaBytes - AROUND_PIECES_BYTES };
}

/** Decodes a content to its bytes. */
export function decodeContent(text: string, encoding: WholeEncoding): Buffer {
  return Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
}

function asBuffer(bytes: Uint8Array, start = 0, end = bytes.length): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}
