/** Owns what a tool is: declared once, and everything that describes or calls it derives from the declaration. */

import type { z } from 'zod';
import type { Session } from '../common/session.ts';
import type { AnyRun } from '../http/reply/byte-run.ts';
import type { CallNote } from '../http/request/call-note.ts';
import type { Charge, Linger } from '../http/route/route.ts';
import type { AnyTable } from '../store/table.ts';
import type { Ask } from './live/ask.ts';

/** Hints for the caller (MCP tool annotations); never relied on here. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Who calls, from where. */
export interface ToolCaller {
  readonly address: string;
  /** The User-Agent, for naming what was made on its behalf. */
  readonly agent: string;
  /** This service as the caller addressed it, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether a listing goes to this caller as lines. */
  readonly lines: LinesWish;
  /** What the log says of this call. */
  readonly note: CallNote;
  /** Asks for more time, for a tool that waits. */
  readonly linger: Linger;
  /** Asks the person at the client; undefined: the client does not offer that. */
  readonly ask?: Ask | undefined;
  /** Counts further calls against the rate limit, for a tool that does the work of many. Throws Refusal `rate_limited`. */
  readonly charge: Charge;
  /** Calls that a caller can make at once, this one included. */
  readonly callsAtOnceMax: number;
}

/** As lines whatever its size, when it is large (see `goesAsLines`), or never. */
export type LinesWish = 'asked' | 'large' | 'never';

/** A value that is JSON already. */
export class JsonText<T> {
  readonly text: string;
  /** Type only. */
  readonly value?: T;

  constructor(text: string) {
    this.text = text;
  }
}

export interface ToolResult<T> {
  /** The whole result; conforms to the output schema. */
  readonly structured: T | JsonText<T>;
  /** A short text that a person or agent can read; large data is not repeated in it. */
  readonly text: string;
  /** A further content item with a JSON payload, where the interface asks for one. */
  readonly resource?: { readonly uri: string; readonly json: unknown };
  /** Of a tool with `madeFrom`: when the result may be another although nothing was written. */
  readonly sameUntilMs?: number;
}

/**
 * Records that are too many to hold at once: finished lines of JSON, each ended by a newline, made while they are sent.
 * Sent as they are, between a first and a last line, or as the items of arrays.
 */
export interface Listing {
  readonly count: number;
  /** Bytes of the records' contents, for `total_size_bytes`. */
  readonly sizeBytes: number;
  /** All records in order, each with its `type`. */
  readonly lines: AnyRun;
  /** The same records as arrays of the structured result, by the name of the member. */
  readonly members: Readonly<Record<string, AnyRun>>;
}

/** A text of records that are streamed: it reads their beginning again, so it is made only for a door that sends it. */
type LazyText = () => string;

/** A result whose records are a listing: the members of the listing, its count and its size are added where it is sent. */
interface ListingResult<T> {
  readonly structured: Partial<T>;
  readonly text: LazyText;
  readonly listing: Listing;
}

/** A result that is too large to be made again: the structured result as a finished JSON object, on one line. */
interface DocumentResult {
  readonly document: AnyRun;
  readonly text: LazyText;
}

export type AnyToolResult<T> = ToolResult<T> | ListingResult<T> | DocumentResult;

// biome-ignore lint/suspicious/noExplicitAny: the shape differs by tool, and zod's own bound is any.
type Shape = z.ZodObject<any>;

interface ToolBase<I extends Shape, O extends Shape> {
  readonly name: string;
  /** A few words for a person who chooses among tools. */
  readonly title: string;
  readonly description: string;
  /** A strict object, so that an unknown argument is refused. */
  readonly input: I;
  /** What `tools/list` shows instead of `input`, where another tool does the rest better. Calls are read by `input`. */
  readonly listedInput?: Shape;
  readonly output: O;
  readonly annotations: ToolAnnotations;
  /** Arguments of one working call, for the documents. */
  readonly example: z.input<I>;
  /** Its result is a listing, which a client may get as lines. */
  readonly lists?: boolean;
  /** A long `content` among the arguments, or in an item of `files`, may come as a `LongContent`. */
  readonly takesContents?: true;
  /**
   * The tables of which the result is made, and of nothing else but the account, the arguments and `sameUntilMs`: then it is
   * remembered and given again while none of them changes. It must not depend on who of the account calls.
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
   * Reads the arguments, where more can be wrong with them than `input` says, such as ids of nothing; default: by `input`.
   * Refuses all that is wrong at once, `invalid_fields`.
   */
  read?(given: unknown, accountId: string): z.output<I>;
  handle(
    args: z.output<I>,
    session: Session,
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

/** Sets a state: calling it again changes nothing more. */
export const SETS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Takes something away; a client should ask its user first. */
export const DESTROYS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};
