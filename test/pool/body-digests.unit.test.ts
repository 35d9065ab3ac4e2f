/** Bodies that arrived whole go to their thread together, and callers take turns. The thread is replaced by this one. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { BodyDigests } from '../../src/pool/body-digests.ts';
import { digestsOf } from '../../src/pool/digest.ts';
import type { DigestBodiesInput, Digests } from '../../src/pool/jobs.ts';

const hmacKey = Uint8Array.from(Buffer.from('a key'));
const NOTHING = new Uint8Array(0);
const LONG = limits.hashedHereBytesMax + 1;

/** Digests here what would be digested in the thread, and keeps the size of each job. */
function open() {
  const jobs: number[] = [];
  const started: (() => void)[] = [];
  const run = async (input: DigestBodiesInput): Promise<readonly Digests[]> => {
    const { bodies } = structuredClone(input);
    jobs.push(bodies.length);
    await new Promise<void>((resolve) => started.push(resolve));
    return bodies.map((body) => digestsOf(body.bytes, body.hmacKey));
  };
  const digests = new BodyDigests(run);
  return { digests, jobs, finishOne: () => started.shift()?.() };
}

function bodyOf(length: number) {
  // In a longer buffer, as those of uploads are.
  const bytes = new Uint8Array(new ArrayBuffer(length + 100), 0, length);
  bytes.set(randomBytes(length));
  return { bytes, body: { bytes, hmacKey } };
}

const nextRound = () => new Promise((resolve) => setImmediate(resolve));

test('[MIR-9] each body has its own digests', async () => {
  const { digests, finishOne } = open();
  const sent = Array.from({ length: 5 }, (_, index) => bodyOf(LONG + index));
  const results = sent.map(({ body }) => digests.of(body, { accountId: 'a' }));
  await nextRound();
  finishOne();
  for (const [index, digested] of (await Promise.all(results)).entries()) {
    const bytes = sent[index]?.bytes ?? NOTHING;
    expect(Buffer.from(digested.sha256)).toEqual(createHash('sha256').update(bytes).digest());
    expect(Buffer.from(digested.hmac)).toEqual(createHmac('sha256', hmacKey).update(bytes).digest());
  }
});

test('[MIR-9] a short body is digested at once, without a job', async () => {
  const { digests, jobs } = open();
  const { bytes, body } = bodyOf(limits.hashedHereBytesMax);
  const { sha256 } = await digests.of(body, {});
  expect(Buffer.from(sha256)).toEqual(createHash('sha256').update(bytes).digest());
  expect(jobs).toEqual([]);
});

test('[MIR-9] bodies of one round share a job; those that come while two run share the next', async () => {
  const { digests, jobs, finishOne } = open();
  const send = (count: number) =>
    Array.from({ length: count }, () => digests.of(bodyOf(LONG).body, { accountId: 'a' }));
  const first = send(3);
  await nextRound();
  expect(jobs).toEqual([3]);
  const second = send(1);
  await nextRound();
  expect(jobs).toEqual([3, 1]);
  const third = [...send(2), ...send(2)];
  await nextRound();
  expect(jobs).toEqual([3, 1]);
  finishOne();
  await Promise.all(first);
  await nextRound();
  expect(jobs).toEqual([3, 1, 4]);
  finishOne();
  finishOne();
  await Promise.all([...second, ...third]);
});

test('[MIR-9, NET-11] a caller with many bodies does not keep another one waiting', async () => {
  const { digests, jobs, finishOne } = open();
  const order: string[] = [];
  const send = (accountId: string) =>
    digests.of(bodyOf(LONG).body, { accountId }).then(() => void order.push(accountId));
  const many = Array.from({ length: 4 * limits.bodiesDigestedAtOnce }, () => send('many'));
  const one = send('one');
  await nextRound();
  expect(jobs).toEqual([limits.bodiesDigestedAtOnce, limits.bodiesDigestedAtOnce]);
  finishOne();
  await one;
  expect(order.length).toBeLessThanOrEqual(limits.bodiesDigestedAtOnce);
  const all = Promise.all(many);
  for (let job = 0; job < 6; job += 1) {
    finishOne();
    await nextRound();
  }
  await all;
});

test('[OPS-3] a job that fails is repeated once, with all its bodies; then it fails them alone', async () => {
  let failures = 0;
  const jobs: number[] = [];
  const digests = new BodyDigests(({ bodies }) => {
    jobs.push(bodies.length);
    failures -= 1;
    if (failures >= 0) return Promise.reject(new Error('the thread died'));
    return Promise.resolve(bodies.map((body) => digestsOf(body.bytes, body.hmacKey)));
  });
  const sent = Array.from({ length: 3 }, () => bodyOf(LONG));
  failures = 1;
  const digested = await Promise.all(sent.map(({ body }) => digests.of(body, {})));
  expect(digested).toEqual(sent.map(({ bytes }) => digestsOf(bytes, hmacKey)));
  failures = 2;
  await expect(digests.of(bodyOf(LONG).body, {})).rejects.toThrow('the thread died');
  await expect(digests.of(bodyOf(LONG).body, {})).resolves.toBeDefined();
  expect(jobs).toEqual([3, 3, 1, 1, 1]);
});
