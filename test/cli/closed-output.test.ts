/** A command whose output nobody reads any more, as behind `| head`: it ends without a word. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { CAIRN, cleanEnvironment } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

test.each([
  ['help'],
  ['tasks', '--help'],
  ['stats', '--json'],
  ['tasks'],
  ['call', 'list_tasks'],
  ['completion', 'bash'],
])('[CLI-1] cairn %s %s ends quietly when its output is closed', async (...args) => {
  const { mcp_key: key } = await account(hub);
  const env = cleanEnvironment({ CAIRN_DATA: hub.dataFolder, CAIRN_SERVER: hub.url, CAIRN_KEY: key });
  const child = spawn(process.execPath, [CAIRN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  // Before it can write: its start takes longer.
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (part: Buffer) => {
    said += part.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  expect([said, code]).toEqual(['', 141]);
});
