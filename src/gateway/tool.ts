/** Defines the declaration of a tool. Everything that describes or calls the tool derives from it. */

import { z } from 'zod';
import { idempotencyKey } from '../actors/once/calls.ts';
import type { Principal } from '../common/principal.ts';
import type { AnyRun } from '../http/reply/byte-run.ts';
import type { CallNote } from '../http/request/call-note.ts';
import type { Charge, Linger } from '../http/route/route.ts';
import type { AnyTable } from '../store/table.ts';
import type { Ask } from './asking/ask.ts';
import type { Progress } from './asking/progress.ts';
import type { ClientHints } from './hints.ts';

/** Hints for the caller (MCP tool annotations); of them only `readOnlyHint` is checked here, for read-only sessions. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Sets of tools that the door for models lists on request. */
export const TOOL_SETS = ['models', 'tasks', 'documents', 'vaults', 'backups', 'account'] as const;

export type ToolSet = (typeof TOOL_SETS)[number];

/** The argument of a tool that changes something; see `takesKey`. */
export const KEY_ARGUMENT = 'idempotency_key';

export const keyArgument = z.strictObject({
  [KEY_ARGUMENT]: idempotencyKey.describe('New for each new call: a repeat of the call with it changes nothing again'),
});

/** The same tools as members of a set too. */
export function inSet(set: ToolSet, tools: readonly Tool[]): Tool[] {
  return tools.map((tool) => ({ ...tool, sets: [...(tool.sets ?? []), set] }));
}

/** True for a tool that a read-only credential may call. */
export function isForReaders({ annotations, openToReaders }: Pick<Tool, 'annotations' | 'openToReaders'>): boolean {
  return annotations.readOnlyHint || openToReaders === true;
}

/**
 * True for a tool that changes an account. A repeat of a call with the same `idempotency_key` gets the same answer. The
 * key is no part of `input`. So every decision of such a tool must be one that happens once (`Actor.once`), and what it
 * reads before a decision must be a plan (`planOnce`).
 */
export function takesKey(tool: Pick<Tool, 'access' | 'annotations' | 'openToReaders'>): boolean {
  return tool.access === 'account' && !isForReaders(tool);
}

/** The caller of a tool. */
export interface ToolCaller {
  readonly address: string;
  /** The User-Agent, used to label what the call creates. */
  readonly agent: string;
  /** URL of this service as used by the caller, without a trailing slash. */
  readonly baseUrl: string;
  /** When a listing is sent to this caller as lines. */
  readonly lines: LinesWish;
  /** Log fields of this call. */
  readonly note: CallNote;
  /** Extends the deadline, for a tool that waits. */
  readonly linger: Linger;
  /** Asks the user at the client; undefined when the client does not support it. */
  readonly ask?: Ask | undefined;
  /** Tells the client how far the call is; undefined when it does not want to hear. */
  readonly progress?: Progress | undefined;
  /** Counts further calls against the rate limit, for a tool doing the work of many. Throws Refusal `rate_limited`. */
  readonly charge: Charge;
  /** Most calls the caller can make at once, including this one. */
  readonly callsAtOnceMax: number;
}

/** Send a listing as lines: always, when it is large (see `goesAsLines`), or never. */
export type LinesWish = 'asked' | 'large' | 'never';

/** A value already serialized to JSON. */
export class JsonText<T> {
  readonly text: string;
  /** Type only. */
  readonly value?: T;

  constructor(text: string) {
    this.text = text;
  }
}

export interface ToolResult<T> {
  /** The complete result; conforms to the output schema. */
  readonly structured: T | JsonText<T>;
  /** A short text for people and agents, without large data. */
  readonly text: string;
  /** A picture for the model, in base64. */
  readonly picture?: { readonly mimeType: string; readonly data: string };
  /** An additional content item with a JSON payload, when the interface requires one. */
  readonly resource?: { readonly uri: string; readonly json: unknown };
  /** For a tool with `madeFrom`: the time until which the result stays the same unless rows are written. */
  readonly sameUntilMs?: number;
}

/**
 * Records too many for memory: lines of JSON, each ending with a newline, generated while they are sent. They are sent
 * as lines between a start and an end line, or as the items of arrays.
 */
export interface Listing {
  readonly count: number;
  /** Total bytes of the records' contents, for `total_size_bytes`. */
  readonly sizeBytes: number;
  /** All records in order, each with its `type`. */
  readonly lines: AnyRun;
  /** The same records as arrays of the structured result, by member name. */
  readonly members: Readonly<Record<string, AnyRun>>;
}

/** Builds the text of streamed records on demand, because it rereads their beginning and not every route sends it. */
type LazyText = () => string;

/** A result with a listing, whose members, count and size are added when it is sent. */
interface ListingResult<T> {
  readonly structured: Partial<T>;
  readonly text: LazyText;
  readonly listing: Listing;
}

/** A result too large to serialize again: the structured result as a finished JSON object on one line. */
interface DocumentResult {
  readonly document: AnyRun;
  readonly text: LazyText;
}

export type AnyToolResult<T> = ToolResult<T> | ListingResult<T> | DocumentResult;

// biome-ignore lint/suspicious/noExplicitAny: the shape differs by tool, and zod's own bound is any.
type Shape = z.ZodObject<any>;

interface ToolBase<I extends Shape, O extends Shape> {
  readonly name: string;
  /** A few words for a person choosing a tool. */
  readonly title: string;
  readonly description: string;
  /** A strict object: unknown arguments are refused. */
  readonly input: I;
  /** Schema shown in `tools/list` instead of `input`, when another tool does the rest better. Calls use `input`. */
  readonly listedInput?: Shape;
  readonly output: O;
  readonly annotations: ToolAnnotations;
  /** A read-only credential may call it too; it then changes nothing. */
  readonly openToReaders?: true;
  /** The sets in which it is listed at the door for models; see `faces.ts`. */
  readonly sets?: readonly ToolSet[];
  /** What a client that shows the tool to a model may want to know; see `hints.ts`. */
  readonly hints?: ClientHints;
  /** Arguments of a valid call, for the documents. */
  readonly example: z.input<I>;
  /** The result is a listing, which a client can receive as lines. */
  readonly lists?: boolean;
  /** A long `content` in the arguments, or in an item of `files`, may be passed as a `LongContent`. */
  readonly takesContents?: true;
  /**
   * Tables the result is computed from. When set, the result must depend only on these tables, the account, the
   * arguments and `sameUntilMs`; it is cached until one of the tables changes. It must not depend on the credential or
   * client.
   */
  readonly madeFrom?: readonly AnyTable[];
  /** Type only. */
  readonly result?: O;
}

/** A tool for callers without a credential. */
export interface OpenTool<I extends Shape = Shape, O extends Shape = Shape> extends ToolBase<I, O> {
  readonly access: 'open';
  handle(args: z.output<I>, caller: ToolCaller): Promise<AnyToolResult<z.input<O>>> | AnyToolResult<z.input<O>>;
}

/** A tool over one account's data. */
export interface AccountTool<I extends Shape = Shape, O extends Shape = Shape> extends ToolBase<I, O> {
  readonly access: 'account';
  /**
   * Reads the arguments when they need more checks than `input`, such as ids of missing rows. Default: by `input`.
   * Throws Refusal `invalid_fields` with all errors.
   */
  read?(given: unknown, accountId: string): z.output<I>;
  handle(
    args: z.output<I>,
    principal: Principal,
    caller: ToolCaller,
  ): Promise<AnyToolResult<z.input<O>>> | AnyToolResult<z.input<O>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of tools is read by name and schema, never by argument type.
export type Tool = OpenTool<any, any> | AccountTool<any, any>;

export function defineTool<I extends Shape, O extends Shape>(tool: AccountTool<I, O>): AccountTool<I, O> {
  return tool;
}

export function defineOpenTool<I extends Shape, O extends Shape>(tool: OpenTool<I, O>): OpenTool<I, O> {
  return tool;
}

/** Reads and changes nothing. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Adds something each time. */
export const ADDS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** Sets a state: calling it again changes nothing. */
export const SETS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Removes something; a client should ask its user first. */
export const DESTROYS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};
