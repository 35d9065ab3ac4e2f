/** Bodies with many values, which are parsed in pieces: the same answers as for small ones. */
import { expect, test } from 'vitest';
import { mirrorTool, post, repliesOf, request, structured, withKey } from '../../support/gateway.ts';
import { account } from '../../support/mirror.ts';
import { Device, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

test('[NET-15] each item of a batch with 90,000 values is answered under its own id', async () => {
  const { mcp_key: key } = await account(hub);
  const ids = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? at : `id ${at}`));
  const items = ids.map((id) => request(id, 'ping', { values: Array(900).fill(id) }));
  const replies = repliesOf(await post(hub, items, withKey(key)));
  expect(replies.map(({ id }) => id)).toEqual(ids);
  expect(replies.every(({ error }) => error === undefined)).toBe(true);
});

test('[NET-15, SYN-17] long contents among many files arrive at their files, through both doors', async () => {
  const { mcp_key: key } = await account(hub);
  const device = new Device(hub, key);
  const contents = new Map(
    Array.from({ length: 300 }, (_, at) => [
      `many/file-${at}.txt`,
      at % 100 === 50 ? `${at} "long" é\n`.repeat(10_000) : `content of ${at}\n`,
    ]),
  );
  const files = [...contents].map(([path, content]) => {
    const { device_id: _, ...file } = device.pushOf(path, content) as { device_id: string };
    return file;
  });
  await device.result('sync_push_many', { device_id: device.name, files: files.slice(0, 160) });
  const answer = await mirrorTool(
    hub,
    'sync_push_many',
    { device_id: device.name, files: files.slice(160) },
    withKey(key),
  );
  expect(answer.status).toBe(200);
  const { files: listed } = await structured<{ files: { path: string; sha256: string }[] }>(
    hub,
    'sync_list',
    { limit: 1000 },
    key,
  );
  expect(new Map(listed.map(({ path, sha256 }) => [path, sha256]))).toEqual(
    new Map([...contents].map(([path, content]) => [path, sha256Of(content)])),
  );
});

test('[NET-15] a small body with more than 5,000 values is refused and accepted as any other', async () => {
  const { mcp_key: key } = await account(hub);
  const body = `{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping","params":{"a":[${'1,'.repeat(6000)}1]}}`;
  expect((await post(hub, body, withKey(key))).text).toContain('"id":12345678901234567890');
  expect((await post(hub, body.replace(']}}', ']}'), withKey(key))).json()).toMatchObject({ error: { code: -32700 } });
});
