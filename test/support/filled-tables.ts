/** Gives a hub rows in as many tables as the doors alone can: what every tool makes, a device, a browser, a conflict, an app. */
import { randomBytes } from 'node:crypto';
import { mirrorTool, PASSWORD } from './gateway.ts';
import type { Hub } from './hub.ts';
import { account } from './mirror.ts';
import { askDevice, signInDevice } from './oauth.ts';
import { signedUp } from './page-client.ts';
import { Device } from './sync.ts';
import { eachExample } from './tool-examples.ts';

/** Longer than a piece, so that the content stands in several rows. */
const LONG_BYTES = 1_200_000;

/** Calls every tool with its example for an account of its own, and more for others. */
export async function fillTables(hub: Hub): Promise<void> {
  const owner = await account(hub);
  await eachExample(hub, async (name, args) => {
    const headers = { Authorization: `McpKey ${owner.mcp_key}`, 'Idempotency-Key': name };
    const answer = await mirrorTool(hub, name, args, headers);
    if (answer.status !== 200) throw new Error(`the example of ${name} was answered ${answer.status}: ${answer.text}`);
    return answer.json();
  });
  const device = new Device(hub, owner.mcp_key, 'desktop');
  await device.push('filled/long.txt', randomBytes(LONG_BYTES).toString('hex'));
  await device.push('filled/both.txt', 'one\n');
  await device.refusedPush('filled/both.txt', 'two\n', { base_sha: '' });
  await askDevice(hub);
  await signInDevice(hub, owner);
  await signedUp(hub, `${randomBytes(6).toString('hex')}@example.org`, PASSWORD);
  for (const command of [
    ['invite', 'create'],
    ['client', 'add', '--name', 'an app', '--redirect', 'https://app.example.org/callback'],
  ]) {
    const { code, stderr } = await hub.cli(...command);
    if (code !== 0) throw new Error(stderr);
  }
}
