/** What `/ready` says while the disk fails or fills up, what calls are answered then, and what the log tells. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { beginFault } from '../support/disk-fault.ts';
import { callTool } from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account, credential, randomCommit, upload } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { canUnshare, startHubOnSmallDisk } from '../support/small-disk.ts';
import { canTrace } from '../support/strace.ts';

interface Check {
  readonly name: string;
  readonly severity: string;
  readonly blocks_writes: boolean;
  readonly message: string;
  readonly since: string;
}

const ready = (hub: Hub) => call(hub, '/ready', { headers: { 'User-Agent': undefined } });
const checksOf = (answer: Answer) => answer.json()['checks'] as Check[];
const blocking = (answer: Answer) => checksOf(answer).flatMap((one) => (one.blocks_writes ? [one.name] : []));

const createTask = (hub: Hub, key: string) => callTool(hub, 'create_task', { content: 'x' }, key);
const fails = (reason: string) => ({
  code: -32008,
  message: expect.stringMatching(/nothing was saved/i),
  data: { reason, retryable: true, retry_after_seconds: 60 },
});

test.runIf(canTrace)(
  '[OPS-27, RPC-6] after a write that failed on the disk /ready is 503 until one succeeds, and a call says so by its code',
  async () => {
    const hub = await startHub();
    const { mcp_key: key } = await account(hub);
    expect((await ready(hub)).status).toBe(200);
    const fault = await beginFault(hub, 'fdatasync:error=EIO');
    expect((await createTask(hub, key)).error).toEqual(fails('storage_failed'));
    const during = await until('/ready is 503', async () => {
      const answer = await ready(hub);
      return answer.status === 503 ? answer : undefined;
    });
    expect(during.json()).toMatchObject({ status: 'not_ready', error: expect.stringContaining('A write failed') });
    expect(blocking(during)).toEqual(['writes_failing']);
    expect(during.headers['retry-after']).toMatch(/^\d+$/);
    expect(during.text).not.toContain(hub.dataFolder);
    expect((await call(hub, '/health')).status).toBe(200);
    const line = await hub.waitForLog(({ condition }) => condition === 'writes_failing');
    expect(line).toMatchObject({ level: 50, severity: 'critical', since: expect.stringMatching(/Z$/) });
    await fault.end();
    // Nobody writes: the hub itself finds out that the disk works again.
    await until('/ready is 200', async () => ((await ready(hub)).status === 200 ? true : undefined));
    expect((await createTask(hub, key)).error).toBeUndefined();
    expect(
      await hub.waitForLog(({ condition, over }) => condition === 'writes_failing' && over === true),
    ).toMatchObject({
      level: 40,
      msg: 'over: Writes fail',
    });
    expect(hub.logs.filter(({ condition }) => condition === 'writes_failing')).toHaveLength(2);
    await hub.stop();
  },
  150_000,
);

test.runIf(canUnshare).each([120, 60])(
  '[OPS-27, OPS-28] a disk of %i MiB that fills up is told before and when it refuses ordinary accounts, and /ready is 503 then',
  async (mebibytes) => {
    const hub = await startHubOnSmallDisk(mebibytes);
    const operator = await account(hub, 'operator@example.org');
    const person = await account(hub);
    const mirrors = [await credential(hub, person.mcp_key), await credential(hub, operator.mcp_key)];
    expect(await ready(hub)).toMatchObject({ status: 200 });
    const fill = async (mirror: (typeof mirrors)[number] | undefined) => {
      if (mirror === undefined) throw new Error('no credential');
      for (let count = 0; count < 120; count += 1) {
        if ((await upload(hub, mirror, randomCommit(), randomBytes(1024 * 1024))).status !== 200) return;
        await agree();
      }
      throw new Error('the disk did not fill up');
    };
    // While it is ready, a write succeeds. What is still being written may use up the disk between the two: then it says so.
    const agree = async () => {
      const { status, text } = await ready(hub);
      const { error } = await createTask(hub, person.mcp_key);
      if (status === 200 && error !== undefined) expect((await ready(hub)).status, text).toBe(503);
      if (status === 503) expect(error, text).toEqual(fails('storage_reserved'));
    };
    await fill(mirrors[0]);
    const refusedMs = Date.now();
    // The refused upload leaves its bytes free again, which must not make the hub ready.
    for (let again = 0; again < 10; again += 1) {
      expect(blocking(await ready(hub))).toEqual(['disk_95']);
      expect((await createTask(hub, person.mcp_key)).error).toEqual(fails('storage_reserved'));
    }
    await fill(mirrors[1]);
    expect((await ready(hub)).status).toBe(503);
    const line = await hub.waitForLog(({ condition }) => condition === 'disk_95');
    expect(line).toMatchObject({ level: 50 });
    // The operators heard of it no later than the first account.
    expect(Date.parse(String(line['since']))).toBeLessThanOrEqual(refusedMs);
    await hub.stop();
  },
  150_000,
);

test.runIf(canUnshare)(
  '[OPS-27] the operators hear that writes are refused before the first account of many that write at once',
  async () => {
    const hub = await startHubOnSmallDisk(60);
    await account(hub, 'operator@example.org');
    const person = await account(hub);
    const mirror = await credential(hub, person.mcp_key);
    const put = async () => {
      const { status } = await upload(hub, mirror, randomCommit(), randomBytes(1024 * 1024));
      return status === 200 ? Number.POSITIVE_INFINITY : Date.now();
    };
    let refusedMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10 && refusedMs === Number.POSITIVE_INFINITY; round += 1) {
      refusedMs = Math.min(...(await Promise.all(Array.from({ length: 12 }, put))));
    }
    expect(refusedMs).toBeLessThan(Number.POSITIVE_INFINITY);
    const { since } = await hub.waitForLog(({ condition }) => condition === 'disk_95' || condition === 'disk_full');
    expect(Date.parse(String(since))).toBeLessThanOrEqual(refusedMs);
    await hub.stop();
  },
  150_000,
);
