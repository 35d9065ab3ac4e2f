/** A content that is long comes whole through every door of the gateway, and its message keeps its id. */
import { beforeAll, expect, test } from 'vitest';
import { GATEWAY, post, repliesOf, toolRequest } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Device, gitShaOf, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true });
let laptop: Device;
let headers: Record<string, string>;

beforeAll(async () => {
  laptop = await newDevice(hub);
  headers = { Authorization: `McpKey ${laptop.key}`, 'Content-Type': 'application/json' };
});

const textOf = (name: string) => `${name}: "ü"\\\u0001\u2028 😀\n`.repeat(20_000);

async function expectFile(path: string, content: string): Promise<void> {
  const { content: found, sha256 } = await laptop.result('sync_pull', { path });
  expect(found === content).toBe(true);
  expect(sha256).toBe(sha256Of(content));
}

const postTool = async (name: string, args: object): Promise<Record<string, unknown>> => {
  const answer = await call(hub, `${GATEWAY}/tools/${name}`, { method: 'POST', headers, body: JSON.stringify(args) });
  expect(answer.status).toBe(200);
  return answer.json() as Record<string, unknown>;
};

test('[SYN-17, RPC-2] by JSON-RPC, alone and in a batch with a short one, each under its very id', async () => {
  const alone = toolRequest(1, 'sync_push', laptop.pushOf('alone.md', textOf('alone')));
  const body = JSON.stringify(alone).replace('"id":1', '"id":12345678901234567890');
  const answer = await post(hub, body, headers);
  expect(answer.text.startsWith('{"jsonrpc":"2.0","id":12345678901234567890,"result"')).toBe(true);
  const batch = [
    toolRequest(1, 'sync_push', laptop.pushOf('first.md', textOf('first'))),
    toolRequest('b', 'sync_push', laptop.pushOf('short.md', 'short')),
    toolRequest(2, 'sync_push', laptop.pushOf('second.md', textOf('second'))),
  ];
  const replies = await post(hub, JSON.stringify(batch).replace('"id":2', '"id":-98765432109876543210'), headers);
  expect(repliesOf(replies).every(({ result }) => result !== undefined)).toBe(true);
  expect(replies.text).toContain('"id":-98765432109876543210,');
  for (const name of ['alone', 'first', 'second']) await expectFile(`${name}.md`, textOf(name));
  await expectFile('short.md', 'short');
});

test('[SYN-17, SYN-23] by the tool mirror, by sync_push_many and by vault_sync', async () => {
  const bytes = Buffer.alloc(300_000, 0xfe);
  await postTool('sync_push', laptop.pushOf('mirror.md', textOf('mirror')));
  await postTool('vault_sync', { action: 'push', ...laptop.pushOf('action.md', textOf('action')) });
  const many = await postTool('sync_push_many', {
    device_id: laptop.name,
    files: [
      laptop.pushOf('many.md', textOf('many')),
      laptop.pushOf('few.md', 'few'),
      laptop.pushOf('bytes.bin', bytes.toString('base64'), { encoding: 'base64', sha256: sha256Of(bytes) }),
    ],
  });
  expect(many).toMatchObject({ accepted: 3, refused: 0 });
  for (const name of ['mirror', 'action', 'many']) await expectFile(`${name}.md`, textOf(name));
  expect(await laptop.result('sync_pull', { path: 'bytes.bin' })).toMatchObject({
    content: bytes.toString('base64'),
    git_sha: gitShaOf(bytes),
  });
});

test('[SYN-17] a long content of a refused push is kept as a conflict with its bytes', async () => {
  const base = await laptop.push('base.md', 'base');
  await laptop.push('base.md', 'newer', { base_sha: base.sha256 });
  const { data } = await laptop.refusedPush('base.md', textOf('mine'), { base_sha: base.sha256 });
  await laptop.result('sync_resolve_conflict', { conflict_id: data['conflict_id'], keep: 'yours' });
  await expectFile('base.md', textOf('mine'));
});

test('[SYN-17, TOOL-5] what is wrong with it is told as of a short one, and other tools take no such content', async () => {
  const long = textOf('wrong');
  const refusals = [
    await laptop.refusedPush('a.md', long, { sha256: sha256Of('other') }),
    await laptop.refusedPush('a.md', long, { encoding: 'utf-16' }),
    await laptop.refusedPush('a.md', long, { encoding: 'base64' }),
    await laptop.refusedPush('a.md', `${long}\udfff`),
    await laptop.refusedPush('a.md', long, { deleted: true, base_sha: '' }),
  ];
  expect(refusals.map(({ code, data }) => [code, data['field']])).toEqual([
    [-32602, 'sha256'],
    [-32602, 'encoding'],
    [-32602, 'content'],
    [-32602, 'content'],
    [-32602, 'content'],
  ]);
  const { error } = await laptop.call('create_task', { content: long });
  expect(error?.message).toMatch(/^content must have at most \d+ characters$/);
});
