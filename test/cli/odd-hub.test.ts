/** A server that answers like a hub in form and not in content: the command says so in one sentence of ours. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCairn } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const server = createServer((request, response) => {
  request.resume();
  response.setHeader('Content-Type', 'application/json');
  const result = { content: [{ type: 'text', text: 'done' }], structuredContent: { vaults: 5 } };
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

test('[CLI-1] an answer in another form is one sentence, without a stack or the words of a library', async () => {
  const { port } = server.address() as AddressInfo;
  const env = {
    CAIRN_SERVER: `http://127.0.0.1:${port}`,
    CAIRN_KEY: '0'.repeat(64),
    XDG_CONFIG_HOME: temporaryFolder(),
  };
  const { code, stdout, stderr } = await runCairn(['sync', '--folder', temporaryFolder(), '--vault', 'notes'], env);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^cairn: the hub sent an answer that this version of cairn cannot read; .*\n$/);
  expect(stderr).not.toMatch(/Zod|expected|Invalid|\n +at /);
});
