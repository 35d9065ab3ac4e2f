/** cairn mcp: connects a client of stdio MCP servers to a hub, with the sign-in of this machine. */
import { createInterface } from 'node:readline';
import { McpBridge } from '../../client/mcp-bridge.ts';
import { readClientSettings } from '../../client/settings.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import { type Command, type Options, takes } from '../command.ts';
import { printError } from '../output.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'connect an MCP client that only starts processes (stdio) to a hub',
  options: [takes('server', 'URL')],
  examples: ['cairn mcp --server https://cairn.example.org', 'claude mcp add cairn -- cairn mcp'],
  run: mcp,
};

async function mcp(options: Options): Promise<number> {
  const credentials = new Credentials(readClientSettings(), options.optional('server'));
  // Clients report a server that exits immediately more clearly than one whose every call fails.
  await credentials.toolAuthorization();
  const bridge = new McpBridge({
    credentials,
    write: (line) => process.stdout.write(`${line}\n`),
    warn: (sentence) => printError(`cairn mcp: ${sentence}`),
  });
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    await bridge.take(line);
  }
  await bridge.finish();
  return 0;
}
