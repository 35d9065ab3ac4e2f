/** Reads the arguments of a push: paths, clock, base, and which can be combined. Pure. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { LongContent } from '../../pool/long-content.ts';
import { parseIsoMs } from '../../time/iso-time.ts';
import type { CheckedContent, ContentCheck, SentChunks } from '../contents/incoming.ts';
import { HLC_EXPECTED, type Hlc, parseHlc } from '../log/hlc.ts';
import { readChunkList } from '../log/large-content.ts';
import { checkPath, type VaultPath } from '../log/paths.ts';
import type { Base, PushedContent, PushRequest } from './types.ts';

/** True without control characters and lone surrogates. Not a pattern: schemas are read without Unicode classes. */
export const isPlainText = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text);

const CHUNKS_EXPECTED = `with encoding chunks, content must be "SHA-256:bytes" of each chunk, joined by commas, then ";" and the SHA-256 of that text`;
const MTIME = 'must be ISO 8601 with a zone, e.g. 2026-11-20T20:18:57.123Z';

/** A path as written by a client, in any Unicode form. */
export const pathArgument = z.string().max(4 * limits.pathBytesMax);
export const vaultIdArgument = z.string().max(limits.vaultIdCharsMax).optional();
export const deviceIdArgument = z
  .string()
  .min(1)
  .max(limits.deviceIdCharsMax)
  .refine(isPlainText, 'must not contain control characters');

/** Base64 takes four characters for three bytes. */
const CONTENT_CHARS_MAX = Math.ceil(limits.fileBytesMax / 3) * 4;

export const contentArgument = z.string().max(CONTENT_CHARS_MAX, 'is too long; split the file');

/** Like `contentArgument`, for a tool that also accepts long contents already prepared. */
const preparedArgument = z.union([contentArgument, z.instanceof(LongContent)], 'must be a string');
preparedArgument._zod.toJSONSchema = () => z.toJSONSchema(contentArgument);

export const encodingArgument = z.enum(['utf-8', 'base64']).optional().describe('base64 for binary files');
const pushEncodingArgument = z
  .enum(['utf-8', 'base64', 'chunks'])
  .optional()
  .describe('base64 for binary files; chunks: content lists the chunks of a file above 10 MiB, sent before');

export const pushArguments = z.strictObject({
  path: pathArgument.describe('Path inside the vault, e.g. notes/today.md'),
  content: preparedArgument.optional().describe('The whole content'),
  encoding: pushEncodingArgument,
  sha256: z.string().max(64).optional().describe('Of the content, in hex; required with device_id, else computed'),
  hlc: z.string().max(limits.hlcCharsMax).optional().describe("A device's clock 2026-11-20T20:18:57.123Z-0000-<node>"),
  device_id: deviceIdArgument.optional().describe('Default: the name of the key'),
  mtime: z.string({ error: MTIME }).max(limits.isoTimeCharsMax).optional().describe('Local change time, ISO 8601'),
  executable: z.boolean().optional().describe('Default: unchanged'),
  base_sha: z.string().max(64).optional().describe('sha256 or git_sha of the version you changed; omit for a new file'),
  deleted: z.boolean().optional().describe('Deletes the file; needs base_sha and no content'),
  from_path: pathArgument.optional().describe('Renames from this path; needs its base_sha'),
  resolves: z.string().max(limits.vaultIdCharsMax).optional().describe('conflict_id this settles'),
  vault_id: vaultIdArgument,
});

/** Arguments of a push whose device is known. */
export type PushArguments = z.output<typeof pushArguments> & {
  readonly device_id: string;
  /** True for a device that named itself: its copy is compared with what arrived. */
  readonly mustHash: boolean;
  /** True for a caller that reads what is there now and tries again. */
  readonly isRetried?: boolean;
};

/** The arguments with a device: the one that they name, else `device`, else `caller`, which is no device of its own. */
export function withDevice(
  args: z.output<typeof pushArguments>,
  device: string | undefined,
  caller: string,
): PushArguments {
  const named = args.device_id ?? device;
  return Object.assign({}, args, { device_id: named ?? caller, mustHash: named !== undefined });
}

/** A push before its content is hashed. The decision sets its clock if it has none. */
export type UnfilledPush = Omit<PushRequest, 'content' | 'hlc'> & {
  content: PushedContent | undefined;
  readonly hlc: Hlc | undefined;
};

/** Reads a push except its content. Throws Refusal `invalid_fields`. */
export function readPush(args: PushArguments): UnfilledPush {
  const path = checkPath(args.path);
  if (args.deleted === true) refuseContent(args);
  else if (args.content === undefined) checkNoContent(args);
  if (args.mtime !== undefined && parseIsoMs(args.mtime) === undefined) {
    throw invalidField('mtime', `mtime ${MTIME}`);
  }
  // One literal: building the object from others takes microseconds.
  return {
    path: path.path,
    folded: path.folded,
    content: undefined,
    hlc: readClock(args),
    hlcText: args.hlc ?? '',
    base: args.base_sha === undefined && args.hlc === undefined ? { kind: 'unread' } : readBase(args.base_sha),
    deviceId: args.device_id,
    mtime: args.mtime ?? null,
    executable: args.executable,
    resolves: args.resolves,
    isRetried: args.isRetried,
    from: args.from_path === undefined ? undefined : readFrom(args, path),
  };
}

/** Returns the content of a push; undefined for a delete, or a rename that keeps the bytes. */
export function readContent(args: PushArguments): CheckedContent | undefined {
  const { content, encoding = 'utf-8' } = args;
  if (content === undefined) return undefined;
  if (encoding === 'chunks') throw invalidField('encoding', 'chunks are sent with sync_push, one file at a time');
  const sent = content instanceof LongContent ? content : { text: content, encoding };
  return { sent, check: checkOf(args) };
}

/** Returns the list of chunks of a push of a large file; undefined for another push. Throws Refusal `invalid_fields`. */
export function readChunks(args: PushArguments): SentChunks | undefined {
  const { content, encoding } = args;
  if (content === undefined || encoding !== 'chunks') return undefined;
  // A long text was prepared where its body was parsed.
  const text = content instanceof LongContent ? preparedText(content) : content;
  const list = readChunkList(text);
  if (list === undefined) throw invalidField('content', CHUNKS_EXPECTED);
  const { sha256 } = args;
  // Always compared: a damaged chunk would make another file. Without it, nothing of the file is read.
  if (sha256 === undefined) throw invalidField('sha256', 'sha256 of the whole file is required with encoding chunks');
  return { list, check: (found) => checkSha256(sha256, found) };
}

function checkOf({ sha256, mustHash }: PushArguments): ContentCheck {
  const isComputed = sha256 === undefined && !mustHash;
  return (found) => (isComputed ? undefined : checkSha256(sha256, found));
}

/** The characters of a list need no escapes. */
function preparedText({ prepared }: LongContent): string {
  return prepared.ok ? Buffer.from(prepared.escaped).toString('latin1') : '';
}

/** Undefined without a clock: the base decides, or the absence of the file, and the hub's clock is used. */
function readClock({ hlc: text, device_id: deviceId }: PushArguments): Hlc | undefined {
  if (text === undefined) return undefined;
  const hlc = parseHlc(text, deviceId);
  if (hlc === undefined) throw invalidField('hlc', HLC_EXPECTED);
  return hlc;
}

/** Compares the content with the client's hash. Throws Refusal `invalid_fields` when the hash is missing or differs. */
export function checkSha256(given: string | undefined, content: Pick<PushedContent, 'sha256'>): void {
  if (given === undefined)
    throw invalidField('sha256', `sha256 is required; the received content has ${content.sha256}`);
  if (given.toLowerCase() !== content.sha256) {
    throw invalidField(
      'sha256',
      `sha256 does not match the received content, which has ${content.sha256}; send that if the content is complete, else send it again`,
    );
  }
}

/** Reads a base. Empty or all zeros: the file must not exist. Throws Refusal `invalid_fields`. */
export function readBase(given: string | undefined): Base {
  if (given === undefined) return { kind: 'unsaid' };
  if (/^0*$/.test(given)) return { kind: 'nothing' };
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(given)) return { kind: 'sha', sha: given.toLowerCase() };
  throw invalidField('base_sha', 'base_sha must be a sha256 (64 hex), a git_sha (40 hex), or empty for no file');
}

/** Reads the old path of a rename. */
function readFrom({ from_path: from = '', deleted }: PushArguments, path: VaultPath): VaultPath {
  if (deleted === true)
    throw invalidField('from_path', 'from_path cannot be combined with deleted: true; send one of them');
  const read = checkPath(from, 'from_path');
  if (read.path === path.path) throw invalidField('from_path', 'from_path equals path; omit it to change the file');
  return read;
}

function refuseContent({ content, sha256 }: PushArguments): void {
  if (content !== undefined)
    throw invalidField('content', 'content cannot be combined with deleted: true; send one of them');
  if (sha256 !== undefined) throw invalidField('sha256', 'sha256 cannot be combined with deleted: true; omit it');
}

/** Refuses a missing content, except in a rename. */
function checkNoContent({ from_path: from, sha256 }: PushArguments): void {
  if (from === undefined) throw invalidField('content', 'content is required, or deleted: true');
  if (sha256 !== undefined) throw invalidField('sha256', 'sha256 describes content; omit it to keep the bytes');
}
