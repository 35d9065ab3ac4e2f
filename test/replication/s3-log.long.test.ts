/** The log in a bucket: Ceph RGW, alone and through a network that cuts, delays, repeats and loses answers. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommitLog, type Created, OutcomeUnknown } from '../../src/replication/log/log.ts';
import { ObjectLog } from '../../src/replication/log/object-log.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { readBucket, S3Store } from '../../src/replication/log/s3.ts';
import { startMemoryBucket } from '../support/memory-bucket.ts';
import { randomOf } from '../support/random.ts';
import { hasRgw, type Rgw, rgwAt, useRgw } from '../support/rgw.ts';
import { type Mischief, type RoughBucket, startRoughBucket } from '../support/rough-bucket.ts';
import { seed } from '../support/seed.ts';
import { all, conformance } from './conformance.ts';

/** Positions that two writers race for through the bad network, in each bucket. By hand: 10,000 in the one in memory. */
const CUT_APPENDS = Number(process.env['CUT_APPENDS'] ?? 100);
/** Races under way at a time. More than a store answers in time would make every outcome unknown, again and again. */
const AT_ONCE = { rgw: 20, memory: 60 };
/** When a request counts as not answered. A good one must be answered sooner, also on a busy machine. */
const REQUEST_MS = 2000;
const MISCHIEF: readonly Mischief[] = ['none', 'before', 'after', 'half', 'late', 'twice', 'busy', 'mute'];

/** Two writers race for each position, and every request may be treated badly. The log has what the winners were told. */
async function raceThroughCuts(rough: RoughBucket, endpoint: string, atOnce: number): Promise<void> {
  const random = randomOf(seed);
  rough.mischief = (method) => {
    const roll = random();
    if (method === 'PUT') return MISCHIEF[Math.floor(roll * MISCHIEF.length)] ?? 'none';
    return roll < 0.2 ? 'half' : 'none';
  };
  let unknown = 0;
  const settle = async (log: CommitLog, position: number, bytes: Uint8Array): Promise<Created> => {
    for (;;) {
      try {
        return await log.append(position, bytes);
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error;
        unknown += 1;
      }
    }
  };
  const url = new URL(`s3://logs/rough/${randomBytes(6).toString('hex')}`);
  const open = (at: string, requestMs: number) => new ObjectLog(new S3Store(readBucket(url, rgwAt(at).env), requestMs));
  const [one, two] = [open(rough.endpoint, REQUEST_MS), open(rough.endpoint, REQUEST_MS)];
  const winners: Buffer[] = [];
  let next = 1;
  const race = async () => {
    for (let position = next; position <= CUT_APPENDS; position = next) {
      next += 1;
      const [ours, theirs] = [randomBytes(300), randomBytes(300)];
      const outcomes = await Promise.all([settle(one, position, ours), settle(two, position, theirs)]);
      expect(outcomes.toSorted(), `position ${position}, seed ${seed}`).toEqual(['taken', 'written']);
      winners[position - 1] = outcomes[0] === 'written' ? ours : theirs;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, race));
  const kept = await all(open(endpoint, 10_000), 1);
  expect(Buffer.concat(kept.map(({ bytes }) => bytes)).equals(Buffer.concat(winners)), `seed ${seed}`).toBe(true);
  expect(unknown).toBeGreaterThan(CUT_APPENDS / 4);
  for (const kind of MISCHIEF) expect(rough.counts.get(kind), kind).toBeGreaterThan(0);
  process.stdout.write(`${kept.length} positions, ${unknown} unknown outcomes, seed ${seed}\n`);
}

const words = (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`;

describe.runIf(hasRgw)('a bucket of Ceph RGW (needs its Debian packages)', () => {
  let rgw: Rgw;
  let rough: RoughBucket;
  beforeAll(async () => {
    rgw = await useRgw();
    rough = await startRoughBucket(rgw.endpoint);
  }, 180_000);
  afterAll(() => rough?.close());

  conformance('S3', (name) => openCommitLog(`s3://logs/suite/${name}`, rgw.env));

  test('[MEMBER-2] every append that a bad network cuts, delays, repeats or loses is settled, and settled right: Ceph RGW', async () => {
    await raceThroughCuts(rough, rgw.endpoint, AT_ONCE.rgw);
  }, 3_600_000);

  test('[MEMBER-2] an append that was signed more than 15 minutes ago is refused, so a former owner cannot fill what was trimmed', async () => {
    const log = await openCommitLog(`s3://logs/late/${randomBytes(6).toString('hex')}`, rgw.env);
    await expect(log.append(1, randomBytes(10), Date.now() - 16 * 60_000)).rejects.toThrow(OutcomeUnknown);
    expect(await log.ends()).toBeUndefined();
    expect(await log.append(1, randomBytes(10), Date.now() - 60_000)).toBe('written');
  });

  test('[MEMBER-4] a bucket that is missing or refuses the key is refused at the start, with a sentence', async () => {
    expect(await openCommitLog('s3://other-bucket/x', rgw.env).catch(words)).toMatch(
      /^StartError: The log at s3:\/\/other-bucket\/x does not work: PUT probe\/.* was answered 404 NoSuchBucket/,
    );
    const wrong = { ...rgw.env, AWS_SECRET_ACCESS_KEY: 'wrong' };
    expect(await openCommitLog('s3://logs/x', wrong).catch(words)).toMatch(/answered 403 SignatureDoesNotMatch/);
  });
});

test('[MEMBER-2] every append that a bad network cuts, delays, repeats or loses is settled, and settled right: a bucket in memory', async () => {
  const bucket = await startMemoryBucket();
  const rough = await startRoughBucket(bucket.endpoint);
  await raceThroughCuts(rough, bucket.endpoint, AT_ONCE.memory);
  rough.close();
  bucket.close();
}, 3_600_000);

test('[MEMBER-4] a bucket that ignores the condition is refused, and so is one that does not answer', async () => {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === 'PUT') objects.set(request.url ?? '', Buffer.concat(parts));
    const found = objects.get(request.url ?? '');
    response.writeHead(found === undefined ? 404 : 200).end(request.method === 'GET' ? found : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const { env } = rgwAt(`http://127.0.0.1:${port}`);
  expect(await openCommitLog('s3://bucket/p', env).catch(words)).toMatch(
    /^StartError: The store at s3:\/\/bucket\/p let 9 of 9 writers create the same object\./,
  );
  server.close();
  server.closeAllConnections();
  expect(await openCommitLog('s3://bucket/p', env).catch(words)).toMatch(/does not work: .*ECONNREFUSED/);
});

test('[MEMBER-4] settings of a bucket that lack something are refused, with a sentence', async () => {
  const refusal = (url: string, env: Record<string, string>) => openCommitLog(url, env).catch(words);
  expect(await refusal('s3://bucket/p', {})).toMatch(/needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/);
  expect(await refusal('s3://bucket/a b', rgwAt('http://x').env)).toMatch(/write s3:\/\/BUCKET\/PREFIX/);
  expect(await refusal('s3://bucket/p', rgwAt('nonsense').env)).toMatch(/AWS_ENDPOINT_URL is nonsense/);
  expect(readBucket(new URL('s3://bucket'), { ...rgwAt('').env, AWS_REGION: 'eu-west-1' })).toMatchObject({
    url: 'https://bucket.s3.eu-west-1.amazonaws.com/',
    prefix: '',
  });
});
