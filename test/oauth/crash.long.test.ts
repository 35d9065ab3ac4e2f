/** Kill -9 while devices refresh: whatever was rotated and not told, the token at hand goes on. */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { CLIENT, refresh, signInDevice, tokensOf } from '../support/oauth.ts';
import { head, rawClient } from '../support/raw.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 4;
const DEVICES = 6;
const KILL_MS_MAX = 150;

/** Refreshes one token after another until the hub is gone; gives the last one that it was told of. */
async function refreshUntilGone(hub: Hub, first: string): Promise<string> {
  let token = first;
  for (;;) {
    const answer = await refresh(hub, token).catch(() => undefined);
    if (answer === undefined) return token;
    token = tokensOf(answer).refresh_token;
  }
}

test('[KEY-6, OPS-2] kill -9 between rotation and answer: the device asks again with the token that it has', async () => {
  const dataFolder = temporaryFolder();
  let hub = await startHub({ dataFolder });
  const owner = await account(hub);
  let tokens = await Promise.all(
    Array.from({ length: DEVICES }, async () => (await signInDevice(hub, owner)).refresh_token),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    const devices = tokens.map((token) => refreshUntilGone(hub, token));
    await new Promise((resolve) => setTimeout(resolve, randomInt(20, KILL_MS_MAX)));
    await hub.kill();
    const held = await Promise.all(devices);
    hub = await startHub({ dataFolder });
    const verified = await hub.cli('verify', '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, sign_ins: DEVICES });
    tokens = await Promise.all(held.map(async (token) => tokensOf(await refresh(hub, token)).refresh_token));
  }
  await hub.stop();
});

test('[KEY-6, OPS-2] an answer that was made and never arrived, and a kill -9 after it: the same token is taken again', async () => {
  const dataFolder = temporaryFolder();
  const first = await startHub({ dataFolder });
  const tokens = await signInDevice(first, await account(first));
  const client = await rawClient(first.port);
  const body = `grant_type=refresh_token&client_id=${CLIENT}&refresh_token=${tokens.refresh_token}`;
  const lines = ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`];
  client.send(head('POST /oauth/token HTTP/1.1', [...lines, 'X-Request-Id: unread']) + body);
  await first.waitForLog((line) => line['id'] === 'unread' && line['status'] === 200);
  await first.kill();
  const second = await startHub({ dataFolder });
  expect((await refresh(second, tokens.refresh_token)).status).toBe(200);
  await second.stop();
});
