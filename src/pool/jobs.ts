/** Declares the types of the jobs that run off the main thread, shared by the pool and by workers/. */

import type { MessagePort } from 'node:worker_threads';
import type { Fault } from '../common/fault.ts';
import type { Cut } from '../text/json-pieces.ts';
import type { MergeInput, MergeOutput } from '../text/merge.ts';
import type { DiffRequest } from '../text/unified-diff.ts';

/** SHA-256 and HMAC-SHA256 of the same bytes, 32 bytes each. */
export interface Digests {
  readonly sha256: Uint8Array;
  readonly hmac: Uint8Array;
}

export const SHA256_BYTES = 32;
/** Both digests of a body: its SHA-256, then its HMAC-SHA256. */
export const BODY_DIGESTS_BYTES = 2 * SHA256_BYTES;

export interface DigestStreamInput {
  readonly port: MessagePort;
  readonly hmacKey: Uint8Array;
}

/** Message from the main thread to a worker, over the port of a digest stream. */
export type DigestMessage =
  | { readonly type: 'chunk'; readonly buffer: ArrayBuffer; readonly length: number }
  | { readonly type: 'end' };

/** Bodies that arrived whole, as copies: when the thread dies, the next one gets the same. */
export interface DigestBodiesInput {
  /** The bodies, one after another. Both threads see it, so a job costs no memory; it does not change while a job runs. */
  readonly memory: SharedArrayBuffer;
  readonly lengths: readonly number[];
  /** The key of each body. */
  readonly hmacKeys: readonly Uint8Array[];
}

export interface DigestFileInput {
  readonly port: MessagePort;
  /** Of the whole file: git counts it before the bytes. */
  readonly sizeBytes: number;
}

/** Hashes of a file in lower-case hex. */
export interface FileHashes {
  readonly sha256: string;
  readonly gitSha: string;
}

/**
 * Message from a worker to the main thread: returns a chunk's buffer after both hashes have read it, in sending order.
 */
export interface DigestReturn {
  readonly buffer: ArrayBuffer;
}

export interface NewPasswordInput {
  readonly password: string;
  /** A file of breached passwords; undefined: none to compare with. */
  readonly breachedFile: string | undefined;
}

export type HashedPassword =
  | { readonly ok: true; readonly hash: string }
  | { readonly ok: false; readonly why: 'common' | 'breached' };

export interface PasswordVerifyInput {
  readonly password: string;
  readonly hash: string;
}

/** A file content as a client sent it. */
export interface RawContent {
  readonly text: string;
  readonly encoding: 'utf-8' | 'base64';
}

/** Why a content is invalid, for the client. */
interface WrongContent {
  readonly ok: false;
  readonly field: string;
  readonly sentence: string;
}

/** A stored content: the bytes of its version, and of its pieces. */
interface StoredContentInput {
  readonly version: Uint8Array;
  readonly escaped: Uint8Array;
}

/** Size of the decoded bytes of a content, and their hashes in lower-case hex. */
export type DigestedContent =
  | { readonly ok: true; readonly sizeBytes: number; readonly sha256: string; readonly gitSha: string }
  | WrongContent;

export type PreparedContent =
  | {
      readonly ok: true;
      readonly sha256: string;
      readonly gitSha: string;
      readonly sizeBytes: number;
      /** The inside of the content's JSON string (without the quotes), in UTF-8. */
      readonly escaped: Uint8Array;
    }
  | WrongContent;

/** The form of a body. It determines where the body can contain long contents of file sync. */
export type BodyForm =
  | { readonly kind: 'document' }
  /** JSON-RPC messages. `contentTools` names the tools that accept contents. */
  | { readonly kind: 'messages'; readonly contentTools: readonly string[] }
  /** The arguments of a tool that accepts contents. */
  | { readonly kind: 'arguments' };

/** The bytes of a body, in consecutive parts. */
export interface BodyInput {
  readonly parts: readonly Uint8Array[];
  readonly form: BodyForm;
}

/** A long content that was removed from a document. */
export interface HeldContent {
  /** Its place among those where the document may have contents. */
  readonly at: number;
  readonly encoding: RawContent['encoding'];
  readonly prepared: PreparedContent;
}

/** `spare`: the buffers that were transferred to the job with the parts. */
export type ParsedBody = { readonly spare: readonly ArrayBuffer[] } & (
  | {
      readonly ok: true;
      /** The document, or its text to be parsed in pieces when it has many values. */
      readonly document: { readonly value: unknown } | { readonly cut: Cut; readonly text: Uint8Array };
      /** Ids of the messages as they were written; empty where the parser changed none. */
      readonly ids: readonly (string | undefined)[];
      readonly contents: readonly HeldContent[];
      /** Size of the document without its long contents. */
      readonly bytes: number;
    }
  | { readonly ok: false; readonly fault: Fault }
);

/** Base of the relative links in a text. */
export interface LinkBase {
  /** The page of the vault that contains the text. */
  readonly vault: string;
  /** The folder within the vault; empty for its root. */
  readonly folder: string;
}

export interface MarkdownInput {
  readonly text: string;
  /** Undefined when the text is in no vault: relative links then have no target. */
  readonly base: LinkBase | undefined;
  /** The text is part of Cairn: no time limit, which protects from crafted texts. */
  readonly isOwn?: true;
}

export interface CodeInput {
  readonly text: string;
  /** Name of the file; its extension determines the language. */
  readonly name: string;
  /** Number of its first line; default: 1. */
  readonly firstLine?: number | undefined;
}

/** Every job by name: worker file, input and output. */
export interface Jobs {
  /** Hashes chunks as they arrive. Returns undefined when the sender closed the port before the end. */
  readonly digestStream: { readonly input: DigestStreamInput; readonly output: Digests | undefined };
  /** Hashes bodies that arrived whole. Returns the SHA-256 and the HMAC of each, one after another. */
  readonly digestBodies: { readonly input: DigestBodiesInput; readonly output: Uint8Array };
  /** As `digestStream` for a file, as SHA-256 and git blob id. */
  readonly digestFile: { readonly input: DigestFileInput; readonly output: FileHashes | undefined };
  /** Hashes with argon2id; returns the encoded hash, or undefined for a common password. */
  readonly hashPassword: { readonly input: NewPasswordInput; readonly output: HashedPassword };
  readonly verifyPassword: { readonly input: PasswordVerifyInput; readonly output: boolean };
  /** Hashes and escapes one content of file sync. */
  readonly prepareContent: { readonly input: RawContent; readonly output: PreparedContent };
  /** Hashes many contents of file sync. */
  readonly digestContents: { readonly input: readonly RawContent[]; readonly output: readonly DigestedContent[] };
  /** Reads a stored content of file sync. Returns undefined when it does not match its hash. */
  readonly readStored: {
    readonly input: StoredContentInput;
    readonly output: { readonly text: string | undefined } | undefined;
  };
  /** Parses a body as a JSON document and hashes and escapes its long contents. Returns a fault when it is invalid. */
  readonly parseBody: { readonly input: BodyInput; readonly output: ParsedBody };
  readonly merge: { readonly input: MergeInput; readonly output: MergeOutput };
  /** Compares two texts by lines, as a unified diff. */
  readonly diff: { readonly input: DiffRequest; readonly output: string };
  /** Renders HTML without active content. Returns undefined when it took too long. */
  readonly renderMarkdown: { readonly input: MarkdownInput; readonly output: string | undefined };
  /** Renders code as such HTML, each line in a separate element. */
  readonly renderCode: { readonly input: CodeInput; readonly output: string | undefined };
}

export type JobName = keyof Jobs;

/** The file of workers/ that implements a job. */
export const jobFiles: Readonly<Record<JobName, string>> = {
  digestStream: 'digest',
  digestBodies: 'digest',
  digestFile: 'digest',
  hashPassword: 'password',
  verifyPassword: 'password',
  prepareContent: 'content',
  digestContents: 'content',
  readStored: 'content',
  parseBody: 'body',
  merge: 'merge',
  diff: 'merge',
  renderMarkdown: 'render',
  renderCode: 'render',
};
