/** Child program: the official MCP server on node:http, with one tool returning a result from memory; stateless. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const [port = '0', resultFile = ''] = process.argv.slice(2);
const result = JSON.parse(readFileSync(resultFile, 'utf8'));

const task = z.object({
  id: z.int().positive(),
  content: z.string(),
  due_date: z.string().nullable(),
  is_important: z.boolean(),
  completed: z.boolean(),
  completed_at: z.string().nullable(),
  category_id: z.int().positive().nullable(),
  kanban_status: z.enum(['backlog', 'todo', 'in_progress', 'done']),
  created_at: z.string(),
  updated_at: z.string(),
});
const tool = {
  description: 'Lists tasks.',
  inputSchema: z.strictObject({
    limit: z.int().min(1).max(500).optional(),
    created_from: z.string().length(10).optional(),
  }),
  outputSchema: z.object({
    tasks: z.array(task),
    count: z.int().nonnegative(),
    has_more: z.boolean(),
    complete: z.boolean(),
  }),
};

// The factory creates a server per request, as the package's stateless mode does.
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'sdk', version: '0.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('list_tasks', tool, () => result);
  return server;
});

createServer(async (incoming, outgoing) => {
  const parts = [];
  for await (const part of incoming) parts.push(part);
  const request = new Request(`http://127.0.0.1:${port}${incoming.url}`, {
    method: 'POST',
    headers: incoming.headers,
    body: Buffer.concat(parts),
  });
  const response = await handler.fetch(request);
  const body = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? 'application/json';
  outgoing.writeHead(response.status, { 'Content-Type': type, 'Content-Length': body.length });
  outgoing.end(body);
}).listen(Number(port), '127.0.0.1');
