/** Owns the types of the jobs that run off the main thread, shared by the pool and by workers/. */

import type { MessagePort } from 'node:worker_threads';
import type { Fault } from '../common/fault.ts';
import type { DiffInput, MergeInput, MergeOutput } from '../text/job-types.ts';

/** SHA-256 and HMAC-SHA256 of the same bytes, 32 bytes each. */
export interface Digests {
  readonly sha256: Uint8Array;
  readonly hmac: Uint8Array;
}

export interface DigestStreamInput {
  readonly port: MessagePort;
  readonly hmacKey: Uint8Array;
}

/** Main thread to worker, over the port of a digest stream. */
export type DigestMessage =
  | { readonly type: 'chunk'; readonly buffer: ArrayBuffer; readonly length: number }
  | { readonly type: 'end' };

/** Worker to main thread: a chunk's buffer comes back once both hashes have taken it, in the order it was sent. */
export interface DigestReturn {
  readonly buffer: ArrayBuffer;
}

export interface PasswordInput {
  readonly password: string;
}

export interface PasswordVerifyInput extends PasswordInput {
  readonly hash: string;
}

/** A content as a client sent it. */
export interface RawContent {
  readonly text: string;
  readonly encoding: 'utf-8' | 'base64';
}

/** What is wrong with a content, for the client. */
interface WrongContent {
  readonly ok: false;
  readonly field: string;
  readonly sentence: string;
}

/** The bytes that a content stands for, and their hashes in lower-case hex. */
export type DigestedContent =
  | { readonly ok: true; readonly sizeBytes: number; readonly sha256: string; readonly gitSha: string }
  | WrongContent;

export type PreparedContent =
  | {
      readonly ok: true;
      readonly sha256: string;
      readonly gitSha: string;
      readonly sizeBytes: number;
      /** The inside of its JSON string, in UTF-8. */
      readonly escaped: Uint8Array;
    }
  | WrongContent;

/** What a body is, which says where in it long contents of file sync may stand. */
export type BodyForm =
  | { readonly kind: 'document' }
  /** Messages of JSON-RPC; `contentTools` take contents. */
  | { readonly kind: 'messages'; readonly contentTools: readonly string[] }
  /** The arguments of a tool that takes contents. */
  | { readonly kind: 'arguments' };

/** The bytes of a body, in parts that follow each other. */
export interface BodyInput {
  readonly parts: readonly Uint8Array[];
  readonly form: BodyForm;
}

/** An object of a document that held a long content, which was taken out of it. */
export interface HeldContent {
  /** The very object of the document: the way between threads keeps what is one object one (structured clone). */
  readonly holder: { content: unknown };
  readonly encoding: RawContent['encoding'];
  readonly prepared: PreparedContent;
}

export type ParsedBody =
  | {
      readonly ok: true;
      readonly document: unknown;
      /** The ids of its messages as they were written; none where the parser changed none. */
      readonly ids: readonly (string | undefined)[];
      readonly contents: readonly HeldContent[];
    }
  | { readonly ok: false; readonly fault: Fault };

/** Where relative links of a text lead. */
export interface LinkBase {
  /** The page of the vault that the text lies in. */
  readonly vault: string;
  /** The folder in it; empty: the vault itself. */
  readonly folder: string;
}

export interface MarkdownInput {
  readonly text: string;
  /** Undefined: the text lies in no vault, and relative links lead nowhere. */
  readonly base: LinkBase | undefined;
}

export interface CodeInput {
  readonly text: string;
  /** Of the file, whose ending tells the language. */
  readonly name: string;
}

/** Every job by name: worker file, input and output. */
export interface Jobs {
  /** Hashes chunks as they arrive; undefined when the sender closed the port before the end. */
  readonly digestStream: { readonly input: DigestStreamInput; readonly output: Digests | undefined };
  /** argon2id, encoded. */
  readonly hashPassword: { readonly input: PasswordInput; readonly output: string };
  readonly verifyPassword: { readonly input: PasswordVerifyInput; readonly output: boolean };
  /** Hashes and escapes a content of file sync. */
  readonly prepareContent: { readonly input: RawContent; readonly output: PreparedContent };
  /** Hashes many contents of file sync. */
  readonly digestContents: { readonly input: readonly RawContent[]; readonly output: readonly DigestedContent[] };
  /** A body as a JSON document, with its long contents hashed and escaped, or why it is none. */
  readonly parseBody: { readonly input: BodyInput; readonly output: ParsedBody };
  /** A three-way merge by lines. */
  readonly merge: { readonly input: MergeInput; readonly output: MergeOutput };
  /** A unified diff by lines. */
  readonly diff: { readonly input: DiffInput; readonly output: string };
  /** HTML that holds nothing active; undefined: it took too long. */
  readonly renderMarkdown: { readonly input: MarkdownInput; readonly output: string | undefined };
  /** The same of code, each line in an element of its own. */
  readonly renderCode: { readonly input: CodeInput; readonly output: string | undefined };
}

export type JobName = keyof Jobs;

/** Which file of workers/ holds a job. */
export const jobFiles: Readonly<Record<JobName, string>> = {
  digestStream: 'digest',
  hashPassword: 'password',
  verifyPassword: 'password',
  prepareContent: 'content',
  digestContents: 'content',
  parseBody: 'body',
  merge: 'merge',
  diff: 'merge',
  renderMarkdown: 'render',
  renderCode: 'render',
};
