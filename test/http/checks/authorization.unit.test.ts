/** What a refused Authorization header is told. */
import { expect, test } from 'vitest';
import { createAuthenticator } from '../../../src/http/checks/authorization.ts';

const KEY = { scheme: 'McpKey', name: 'McpKey', credential: 'MCP key', find: () => undefined } as const;
const TOKEN = { scheme: 'Bearer', name: 'AccessToken', credential: 'access token', find: () => undefined } as const;

test.each([
  [undefined, 'the Authorization header is missing; send Authorization: McpKey <MCP key>'],
  ['', 'the Authorization header is missing; send Authorization: McpKey <MCP key>'],
  // A script whose variable is empty has the right scheme.
  ['McpKey', 'the Authorization header has nothing after McpKey; send Authorization: McpKey <MCP key>'],
  ['McpKey ', 'the Authorization header has nothing after McpKey; send Authorization: McpKey <MCP key>'],
  ['Bearer', 'the Authorization header has nothing after Bearer; send Authorization: McpKey <MCP key>'],
  ['bearer  ', 'the Authorization header has nothing after Bearer; send Authorization: McpKey <MCP key>'],
  ['Basic', 'the Authorization header has the wrong scheme; send Authorization: McpKey <MCP key>'],
  ['mcpkey x', 'the Authorization header has the wrong scheme; send Authorization: McpKey <MCP key>'],
  ['McpKey x', 'this MCP key is unknown or no longer valid; send Authorization: McpKey <MCP key>'],
  ['Bearer x', 'this access token is unknown or no longer valid; send Authorization: McpKey <MCP key>'],
])('[KEY-4] Authorization %j is told what it lacks', (header, sentence) => {
  const enter = () => createAuthenticator(KEY, TOKEN)(header);
  expect(enter).toThrow(
    expect.objectContaining({ fault: { kind: 'unauthenticated', scheme: 'McpKey', detail: sentence } }),
  );
});
