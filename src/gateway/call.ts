/** Owns one call of a tool, whichever door it came through: access, arguments, the handler. */
import { Refusal } from '../fault.ts';
import type { Session } from '../session.ts';
import { readArguments } from './arguments.ts';
import type { ToolRegistry } from './registry.ts';
import type { Listing, ToolCaller, ToolResult } from './tool.ts';

export interface CallContext {
  readonly registry: ToolRegistry;
  /** Undefined: no credential was sent. */
  readonly session: Session | undefined;
  readonly caller: ToolCaller;
}

export interface AnyResult extends ToolResult<Readonly<Record<string, unknown>>> {
  readonly listing?: Listing;
}

/** Runs a tool. Refuses with `unknown_tool`, `unauthenticated`, `invalid_fields`, or what the tool itself refuses. */
export async function callTool(context: CallContext, name: unknown, given: unknown): Promise<AnyResult> {
  const tool = context.registry.find(name);
  if (tool.access === 'open') {
    return (await tool.handle(readArguments(tool, given), context.caller)) as AnyResult;
  }
  if (context.session === undefined) {
    throw new Refusal({
      kind: 'unauthenticated',
      scheme: 'McpKey',
      detail: `${tool.name} needs a key: send Authorization: McpKey <MCP key>; signup_and_get_key and login_and_get_key give one`,
    });
  }
  return (await tool.handle(readArguments(tool, given), context.session, context.caller)) as AnyResult;
}
