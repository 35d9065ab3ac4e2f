/** Owns one call of a tool, whichever door it came through: access, arguments, the handler. */
import { Refusal } from '../fault.ts';
import type { Session } from '../session.ts';
import { readArguments } from './arguments.ts';
import type { KnownAnswers, WrittenResult } from './known-answers.ts';
import type { ToolRegistry } from './registry.ts';
import { JsonText, type Listing, type ToolCaller, type ToolResult } from './tool.ts';

export interface CallContext {
  readonly registry: ToolRegistry;
  /** Undefined: no credential was sent. */
  readonly session: Session | undefined;
  readonly caller: ToolCaller;
  readonly answers: KnownAnswers;
}

type AnyResult = ToolResult<Readonly<Record<string, unknown>>> & { readonly listing?: Listing };

/** What a call came to. With a listing, that belongs into the structured result. */
export interface CallResult extends WrittenResult {
  readonly listing?: Listing;
}

/** Runs a tool. Refuses with `unknown_tool`, `unauthenticated`, `invalid_fields`, or what the tool itself refuses. */
export async function callTool(context: CallContext, name: unknown, given: unknown): Promise<CallResult> {
  const { registry, session, caller, answers } = context;
  const tool = registry.find(name);
  if (tool.access === 'open') return written((await tool.handle(readArguments(tool, given), caller)) as AnyResult);
  if (session === undefined) {
    throw new Refusal({
      kind: 'unauthenticated',
      scheme: 'McpKey',
      detail: `${tool.name} needs a key: send Authorization: McpKey <MCP key>; signup_and_get_key and login_and_get_key give one`,
    });
  }
  const place = answers.place(tool, session.accountId, given);
  const known = place && answers.find(place);
  if (known !== undefined) return known;
  const made = (await tool.handle(readArguments(tool, given), session, caller)) as AnyResult;
  const result = written(made);
  if (place !== undefined && made.listing === undefined) answers.keep(place, result, made.sameUntilMs);
  return result;
}

function written({ structured, text, resource, listing }: AnyResult): CallResult {
  const content: unknown[] = [{ type: 'text', text }];
  if (resource !== undefined) {
    const payload = { uri: resource.uri, mimeType: 'application/json', text: JSON.stringify(resource.json) };
    content.push({ type: 'resource', resource: payload });
  }
  const first = `"content":${JSON.stringify(content)},"structuredContent":`;
  const members = Buffer.from(first + (structured instanceof JsonText ? structured.text : JSON.stringify(structured)));
  const made = { members, structured: members.subarray(Buffer.byteLength(first)) };
  return listing === undefined ? made : { ...made, listing };
}
