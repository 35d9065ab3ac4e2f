/** Tells the story to a hub, as its own agents and devices would: over the tool gateway. */
import { ClientError } from '../../client/client-error.ts';
import type { StoryCall } from './story.ts';

interface ToolAnswer {
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: unknown };
  readonly error?: { readonly message: string };
}

/**
 * Calls the tool of a step with the key of who does it, and returns its result. Throws ClientError when the hub answers
 * otherwise than the story wants.
 */
export async function tell(
  url: string,
  keys: Readonly<Record<StoryCall['by'], string>>,
  call: StoryCall,
): Promise<unknown> {
  const response = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `McpKey ${keys[call.by]}`,
      'User-Agent': 'cairn-demo/1',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: call.tool, arguments: call.args },
    }),
  });
  const { result, error } = (await response.json()) as ToolAnswer;
  const isDone = result !== undefined && result.isError !== true;
  if (isDone === (call.refused === true)) {
    throw new ClientError(`the demo stopped at ${call.tool}: ${error?.message ?? JSON.stringify(result)}`);
  }
  return result?.structuredContent;
}
