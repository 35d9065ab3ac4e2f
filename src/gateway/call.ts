/** Runs one call of a tool, from any route: checks access, reads the arguments, calls the handler. */
import type { OnceCalls } from '../actors/once/calls.ts';
import type { AnswerPlace } from '../cache/answers.ts';
import { type Fault, type FieldErrors, Refusal, refuseFields } from '../common/fault.ts';
import { canStepUp, type Principal } from '../common/principal.ts';
import { isRecord } from '../fields/is-record.ts';
import { checkFields, readFields } from '../fields/read.ts';
import { withoutSlips } from '../fields/slips.ts';
import type { AnyRun } from '../http/reply/byte-run.ts';
import { statusOf } from '../http/reply/status.ts';
import type { CallNote } from '../http/request/call-note.ts';
import { InputRequired } from './asking/input-required.ts';
import { rpcCode } from './codes.ts';
import type { Face } from './faces.ts';
import { encodedResult, type KnownResults, placeOfCall, type WrittenResult } from './known-results.ts';
import type { ToolRegistry } from './registry.ts';
import {
  type AccountTool,
  type AnyToolResult,
  isForReaders,
  JsonText,
  KEY_ARGUMENT,
  keyArgument,
  type Listing,
  type Tool,
  type ToolCaller,
  type ToolResult,
  takesKey,
} from './tool.ts';

export interface CallContext {
  readonly registry: ToolRegistry;
  /** Undefined when no credential was sent. */
  readonly principal: Principal | undefined;
  readonly caller: ToolCaller;
  readonly answers: KnownResults;
  readonly once: OnceCalls;
  /** The tools that the caller sees in its list; undefined: it may have any. */
  readonly face?: Face | undefined;
  /** Header Idempotency-Key of a request that is this one call. */
  readonly key?: string | undefined;
}

type Structured = Readonly<Record<string, unknown>>;
type AnyResult = Omit<ToolResult<Structured>, 'text'> & {
  readonly text: string | (() => string);
  readonly listing?: Listing;
  readonly document?: AnyRun;
};

/** Result of a call. A listing is inserted into the structured result; a document replaces it. */
export interface CallResult<Text extends string | Uint8Array = string | Uint8Array> extends WrittenResult<Text> {
  readonly listing?: Listing | undefined;
  readonly document?: AnyRun | undefined;
}

/**
 * Runs a tool. Throws Refusal `unknown_tool`, `unauthenticated`, `insufficient_scope`, `invalid_fields`, or a refusal
 * of the tool, and InputRequired when the tool asks the user.
 */
export async function callTool(context: CallContext, name: unknown, given: unknown): Promise<CallResult> {
  const { note } = context.caller;
  const startedMs = performance.now();
  let tool: Tool | undefined;
  let failure: unknown;
  try {
    tool = context.registry.find(name, context.face);
    const started = startTool(context, tool, given);
    return started.known ?? keepResult(context, started.place, resultOf(await started.made));
  } catch (error) {
    noteFailure(note, error);
    failure = error instanceof InputRequired ? undefined : error;
    throw error;
  } finally {
    if (tool !== undefined) {
      note.tool = tool.name;
      note.ms = performance.now() - startedMs;
      context.registry.callsOf(tool).record(note.ms, failure);
    }
  }
}

function noteFailure(note: CallNote, error: unknown): void {
  if (error instanceof InputRequired) return;
  const fault: Fault = error instanceof Refusal ? error.fault : { kind: 'internal' };
  note.code = rpcCode(fault);
  note.fault = fault.kind;
  note.status = statusOf(fault);
}

type Made = AnyToolResult<Structured> | Promise<AnyToolResult<Structured>>;

/** A call under way, or its remembered result. `place`: where the result is remembered. */
type Started =
  | { readonly known: CallResult }
  | { readonly known?: undefined; readonly made: Made; readonly place: AnswerPlace | undefined };

function startTool(context: CallContext, tool: Tool, given: unknown): Started {
  const { principal, caller, answers } = context;
  if (tool.access === 'open') return { made: tool.handle(argumentsOf(tool, given), caller), place: undefined };
  if (principal === undefined) {
    throw new Refusal({
      kind: 'unauthenticated',
      scheme: 'McpKey',
      detail: `${tool.name} needs a key: send Authorization: McpKey <MCP key>; signup_and_get_key and login_and_get_key give one`,
    });
  }
  if (principal.readOnly === true && !isForReaders(tool)) {
    throw new Refusal({ kind: 'insufficient_scope', what: tool.name, canStepUp: canStepUp(principal) });
  }
  const place = placeOfCall(answers, tool, principal.accountId, given);
  const known = place && answers.find(place);
  if (known !== undefined) return { known };
  return { made: handleOnce(context, tool, principal, given ?? {}), place };
}

function keepResult({ answers }: CallContext, place: AnswerPlace | undefined, made: AnyResult): CallResult {
  const result = new MadeResult(made);
  const isWhole = made.listing === undefined && made.document === undefined;
  if (place !== undefined && isWhole) answers.keep(place, () => encodedResult(result), made.sameUntilMs);
  return result;
}

/** Calls the handler: with an idempotency key so that a repeat of the call decides nothing again. */
function handleOnce(
  { caller, once, key: header }: CallContext,
  tool: AccountTool,
  principal: Principal,
  given: unknown,
): Made {
  const { accountId } = principal;
  const read = (document: unknown) =>
    leniently(tool, document, (one) => tool.read?.(one, accountId) ?? strictly(tool, one));
  if (!takesKey(tool)) return tool.handle(read(given), principal, caller);
  const { rest, key = header, errors } = withoutKey(given);
  if (errors !== undefined) refuseFields({ ...errorsOf(() => read(rest)), ...errors });
  const handle = () => tool.handle(read(rest), principal, caller);
  if (key === undefined) return handle();
  return once.run({ accountId, key, field: KEY_ARGUMENT, request: [tool.name, rest] }, handle);
}

/** Arguments without their key, and what is wrong with it. */
function withoutKey(given: unknown): { readonly rest: unknown; readonly key?: string; readonly errors?: FieldErrors } {
  // Some programs send all arguments as one text, and null for what is left out.
  const found = typeof given === 'string' ? withoutSlips(keyArgument, given) : given;
  if (!isRecord(found) || !Object.hasOwn(found, KEY_ARGUMENT)) return { rest: given };
  const { [KEY_ARGUMENT]: key, ...rest } = found;
  if (key === null) return { rest };
  const { fields, errors } = checkFields(keyArgument, { [KEY_ARGUMENT]: key });
  return fields.idempotency_key === undefined ? { rest, errors } : { rest, key: fields.idempotency_key };
}

function errorsOf(read: () => unknown): FieldErrors {
  try {
    read();
    return {};
  } catch (error) {
    if (error instanceof Refusal && error.fault.kind === 'invalid_fields') return error.fault.fields;
    throw error;
  }
}

/** Reads arguments by the input schema of a tool or of a list item. Throws Refusal `invalid_fields` with all errors. */
export function argumentsOf(tool: Pick<Tool, 'input'>, given: unknown): Record<string, unknown> {
  return leniently(tool, given ?? {}, (document) => strictly(tool, document));
}

function strictly({ input }: Pick<Tool, 'input'>, document: unknown): Record<string, unknown> {
  return readFields(input, document, 'arguments');
}

/** Reads arguments, and those that are refused once more without the slips that a client made. */
function leniently<T>({ input }: Pick<Tool, 'input'>, given: unknown, read: (document: unknown) => T): T {
  try {
    return read(given);
  } catch (error) {
    if (!(error instanceof Refusal) || error.fault.kind !== 'invalid_fields') throw error;
    const repaired = withoutSlips(input, given);
    if (repaired === given) throw error;
    return read(repaired);
  }
}

function resultOf(made: AnyToolResult<Structured>): AnyResult {
  return 'document' in made ? { ...made, structured: {} } : made;
}

/** A result whose forms are built on demand and once: REST routes send only one, and a cached result is also sent. */
class MadeResult implements CallResult<string> {
  readonly structured: string;
  readonly #made: AnyResult;
  #members: string | undefined;
  #plain: string | undefined;

  constructor(made: AnyResult) {
    const { structured } = made;
    this.structured = structured instanceof JsonText ? structured.text : JSON.stringify(structured);
    this.#made = made;
  }

  get members(): string {
    this.#members ??= `"content":${JSON.stringify(contentOf(this.#made))},"structuredContent":${this.structured}`;
    return this.#members;
  }

  get plain(): string {
    this.#plain ??= plainMembers(this.#made);
    return this.#plain;
  }

  get listing(): Listing | undefined {
    return this.#made.listing;
  }

  get document(): AnyRun | undefined {
    return this.#made.document;
  }
}

/** A client that shows its model only the structured half would hide a picture, so there is none beside one. */
function plainMembers(made: AnyResult): string {
  const text = typeof made.text === 'string' ? made.text : made.text();
  const structured = made.picture === undefined ? { structuredContent: { text } } : {};
  return JSON.stringify({ content: contentOf({ ...made, text }), ...structured }).slice(1, -1);
}

function contentOf({ text, resource, picture }: AnyResult): unknown[] {
  const content: unknown[] = [{ type: 'text', text: typeof text === 'string' ? text : text() }];
  if (picture !== undefined) content.push({ type: 'image', ...picture });
  if (resource !== undefined) {
    const payload = { uri: resource.uri, mimeType: 'application/json', text: JSON.stringify(resource.json) };
    content.push({ type: 'resource', resource: payload });
  }
  return content;
}
