/** What the log says of a call inside a request, of slow requests, and where the lines of requests go. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modern, PASSWORD, post, request, structured, toolRequest, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { CAIRN, cleanEnvironment, type LogLine, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

/** The line of a request with this id, once it is written. */
const lineOf = (id: string) => hub.waitForLog((line) => line['id'] === id);

/** Sends one body to the gateway and returns the line that it leaves. */
async function logged(id: string, body: unknown, headers: Record<string, string | undefined> = {}): Promise<LogLine> {
  await post(hub, body, { ...headers, 'X-Request-Id': id });
  return await lineOf(id);
}

test('[OPS-4] the line of a gateway call names the tool, how it ended and how long it took, in every dialect', async () => {
  const { mcp_key } = await account(hub);
  const done = await logged('call-done', toolRequest(1, 'list_tasks'), withKey(mcp_key));
  expect(done).toMatchObject({ status: 200, level: 30, tool: 'list_tasks', tool_ms: expect.any(Number) });
  expect(done).not.toHaveProperty('code');
  const missing = { id: 999_999 };
  const refused = { status: 200, level: 30, tool: 'update_task', code: -32005, fault: 'not_found' };
  expect(await logged('call-bare', toolRequest(1, 'update_task', missing), withKey(mcp_key))).toMatchObject(refused);
  const legacy = { ...withKey(mcp_key), 'MCP-Protocol-Version': '2025-06-18' };
  expect(await logged('call-legacy', toolRequest(1, 'update_task', missing), legacy)).toMatchObject(refused);
  const { body, headers } = modern('tools/call', { name: 'update_task', arguments: missing });
  expect(await logged('call-modern', body, { ...withKey(mcp_key), ...headers })).toMatchObject(refused);
  await call(hub, '/api/mcp/tools/update_task', {
    method: 'POST',
    headers: { ...withKey(mcp_key), 'Content-Type': 'application/json', 'X-Request-Id': 'call-rest' } as Record<
      string,
      string
    >,
    body: JSON.stringify(missing),
  });
  expect(await lineOf('call-rest')).toMatchObject({ ...refused, status: 404 });
});

test('[OPS-4] what fails before a tool runs has its code too, and nothing of what the caller wrote', async () => {
  const secret = 'a-name-that-is-a-secret';
  const lines = [
    [await logged('no-json', `{"${secret}`), { status: 200, fault: 'invalid_json' }],
    [await logged('no-tool', toolRequest(1, secret)), { status: 200, code: -32602, fault: 'unknown_tool' }],
    [await logged('no-method', request(1, secret)), { status: 200, code: -32601 }],
    [await logged('no-request', { [secret]: 1 }), { status: 200, code: -32600 }],
    [
      await logged('no-key', toolRequest(1, 'list_tasks')),
      { status: 401, tool: 'list_tasks', fault: 'unauthenticated' },
    ],
  ] as const;
  for (const [line, expected] of lines) expect(line).toMatchObject(expected);
  expect(JSON.stringify(lines)).not.toContain(secret);
});

test('[OPS-4] the line of a batch names each call', async () => {
  const { mcp_key } = await account(hub);
  const line = await logged(
    'call-batch',
    [toolRequest(1, 'list_tasks'), toolRequest(2, 'update_task', { id: 999_999 }), 7],
    withKey(mcp_key),
  );
  const calls = [
    { tool: 'list_tasks', tool_ms: expect.any(Number) },
    { tool: 'update_task', tool_ms: expect.any(Number), code: -32005, fault: 'not_found' },
    { code: -32600 },
  ];
  expect(line['calls']).toHaveLength(3);
  expect(line['calls']).toEqual(expect.arrayContaining(calls));
});

test('[OPS-4] requests slower than CAIRN_SLOW_MS are warnings; those that wait on purpose are not', async () => {
  const own = await startHub({ env: { CAIRN_SLOW_MS: '1' } });
  const login = { email: 'slow@example.org', password: PASSWORD };
  const { mcp_key } = await structured<{ mcp_key: string }>(own, 'signup_and_get_key', login);
  const hashed = await own.waitForLog((line) => line['tool'] === 'signup_and_get_key');
  expect(hashed).toMatchObject({ level: 40, slow: true, status: 200 });
  const { vault_id } = await structured<{ vault_id: string }>(own, 'vault_create', { name: 'slow' }, mcp_key);
  await structured(own, 'sync_pull', { vault_id, since: new Date().toISOString(), wait_seconds: 1 }, mcp_key);
  const waited = await own.waitForLog((line) => line['tool'] === 'sync_pull');
  expect(waited).toMatchObject({ level: 30 });
  expect(waited).not.toHaveProperty('slow');
  await own.stop();
});

test('[OPS-4] CAIRN_ACCESS_LOG takes the lines of requests, and is opened anew on SIGHUP', async () => {
  const file = join(temporaryFolder(), 'access.log');
  const own = await startHub({ env: { CAIRN_ACCESS_LOG: file } });
  const ask = (id: string) => call(own, '/health', { headers: { 'X-Request-Id': id } });
  const idsIn = (path: string) =>
    !existsSync(path)
      ? []
      : readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => (JSON.parse(line) as LogLine)['id']);
  await ask('before');
  await expect.poll(() => idsIn(file)).toContain('before');
  renameSync(file, `${file}.1`);
  own.process.kill('SIGHUP');
  await own.waitForLog((line) => line['msg'] === 'the access log was reopened');
  await ask('after');
  expect(await own.stop()).toBe(0);
  expect(idsIn(`${file}.1`)).toEqual(['before']);
  expect(idsIn(file)).toEqual(['after']);
  expect(own.logs.filter((line) => line['msg'] === 'request')).toEqual([]);
});

test('[OPS-4] SIGHUP without an access log ends nothing', async () => {
  const own = await startHub();
  own.process.kill('SIGHUP');
  await own.waitForLog((line) => String(line['msg']).startsWith('SIGHUP: there is no access log'));
  expect((await call(own, '/health')).status).toBe(200);
  expect(await own.stop()).toBe(0);
});

test('[OPS-20] what runs the service gives nothing away: no debugger listens on SIGUSR1, and a core dump has no memory', async () => {
  const own = await startHub();
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    own.process.kill(signal);
    await own.waitForLog(({ msg }) => msg === `${signal} is ignored; send SIGHUP to open the access log again`);
  }
  expect(own.stderr()).toBe('');
  expect(readFileSync(`/proc/${own.process.pid}/coredump_filter`, 'utf8')).toBe('00000000\n');
  expect(await own.stop()).toBe(0);
});

test('[OPS-20] a command that runs for long lets no signal start a debugger, either', async () => {
  const own = await startHub();
  const env = cleanEnvironment({ CAIRN_DATA: own.dataFolder });
  const follow = spawn(process.execPath, [CAIRN, 'follow', join(temporaryFolder(), 'following')], { env });
  const ended = new Promise((resolve) => follow.once('exit', resolve));
  let stderr = '';
  follow.stderr.on('data', (text: Buffer) => {
    stderr += text.toString();
  });
  await new Promise((resolve) => follow.stdout.once('data', resolve));
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGTERM'] as const) follow.kill(signal);
  expect([await ended, stderr]).toEqual([0, '']);
  expect(await own.stop()).toBe(0);
});

test('[OPS-4] an access log that cannot be opened stops the start with a sentence', async () => {
  const file = join(temporaryFolder(), 'missing', 'access.log');
  await expect(startHub({ env: { CAIRN_ACCESS_LOG: file } })).rejects.toThrow(
    /CAIRN_ACCESS_LOG: .*missing.* cannot be opened \(ENOENT\)/,
  );
});
