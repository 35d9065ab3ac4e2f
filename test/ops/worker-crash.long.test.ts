/** A worker thread that dies in the running service: a copy of the build whose password worker dies when it is told to. */
import { randomBytes } from 'node:crypto';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, PASSWORD, type RpcReply } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { scrape } from '../support/metrics.ts';
import { download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { untilNothingStaged } from '../support/mirror-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Dies, or fills its heap, for two passwords; hashes the others. */
const WORKER = `
import { hashSync, verifySync } from '@node-rs/argon2';
export function hashPassword({ password }) {
  if (password === 'let the thread die') process.exit(1);
  if (password === 'let the heap run full') for (const kept = []; ; ) kept.push(new Array(1000).fill(kept.length));
  return { ok: true, hash: hashSync(password) };
}
export const verifyPassword = ({ hash, password }) => verifySync(hash, password);
`;

let hub: Hub;
let metrics: string;

beforeAll(async () => {
  const copy = temporaryFolder();
  cpSync(join(ROOT, 'dist'), join(copy, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
  cpSync(join(ROOT, 'src/manual'), join(copy, 'src/manual'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'dist/workers/password.js'), WORKER);
  hub = await startHub({
    script: join(copy, 'dist/src/cli/cairn.js'),
    env: { CAIRN_POOL_THREADS: '2', CAIRN_METRICS_PORT: '0' },
  });
  const { metrics_port: port } = await hub.waitForLog(({ msg }) => msg === 'listening');
  metrics = `http://127.0.0.1:${String(port)}`;
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
});

let count = 0;
function signUp(password: string): Promise<RpcReply> {
  count += 1;
  return callTool(hub, 'signup_and_get_key', { email: `person-${count}@example.org`, password });
}

test.each(['let the thread die', 'let the heap run full'])(
  '[OPS-3] a thread that dies fails its job, is replaced, and the service goes on: %s',
  async (fatal) => {
    for (let round = 0; round < 3; round += 1) {
      expect(await signUp(fatal)).toMatchObject({
        error: { code: -32603, message: expect.stringContaining('internal error') },
      });
      expect((await signUp(PASSWORD)).result).toBeDefined();
    }
    expect((await call(hub, '/health')).status).toBe(200);
    // One job at a time needs one thread.
    expect((await scrape(metrics)).sum('cairn_pool_threads')).toBe(1);
  },
);

test('[OPS-3, MIR-16] uploads while threads die are kept whole or not at all', async () => {
  const who = await mirrorAccount(hub);
  const uploads = Array.from({ length: 12 }, async () => {
    const blob = { commit: randomCommit(), bytes: randomBytes(4_000_000) };
    return { ...blob, answer: await upload(hub, who, blob.commit, blob.bytes) };
  });
  const deaths = Array.from({ length: 6 }, () => signUp('let the thread die'));
  const results = await Promise.all(uploads);
  for (const reply of await Promise.all(deaths)) expect(reply.error?.code).toBe(-32603);
  const kept = results.filter(({ answer }) => answer.status === 200);
  expect(results.filter(({ answer }) => ![200, 500].includes(answer.status))).toEqual([]);
  for (const { commit, bytes } of kept) expect((await download(hub, who, commit)).bytes.equals(bytes)).toBe(true);
  expect(await untilNothingStaged(hub)).toMatchObject({ ok: true, blobs: kept.length });
  const again = { commit: randomCommit(), bytes: randomBytes(3_000_000) };
  expect((await upload(hub, who, again.commit, again.bytes)).status).toBe(200);
  expect((await scrape(metrics)).sum('cairn_pool_jobs_total', { outcome: 'failed' })).toBeGreaterThanOrEqual(6);
});

test('[OPS-3] a hub whose threads get the priority −1, as those of a unit with Nice=-6 do, runs its jobs', async () => {
  // Without the right to raise a priority, `nice` says so and runs the command as it is.
  const first = await startHub({ wrapper: ['nice', '-n', '-6'] });
  const { error } = await callTool(first, 'login_and_get_key', {
    email: 'nobody@example.org',
    password: 'x'.repeat(40_000),
  });
  expect(error?.code).toEqual(expect.any(Number));
  expect(await first.stop()).toBe(0);
});
