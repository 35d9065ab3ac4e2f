/** Bodies that arrived whole go to their thread together, and callers take turns. The thread is replaced by this one. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { BodyDigests } from '../../src/pool/body-digests.ts';
import { digestsOf } from '../../src/pool/digest.ts';
import type { DigestBodiesInput, Digests } from '../../src/pool/jobs.ts';
import { digestBodies } from '../../workers/digest.ts';

const hmacKey = Uint8Array.from(Buffer.from('a key'));
const NOTHING = new Uint8Array(0);
const LONG = limits.hashedHereBytesMax + 1;

/** Digests here what would be digested in the thread, and keeps the size of each job. */
function open() {
  const jobs: number[] = [];
  const started: (() => void)[] = [];
  const run = async (input: DigestBodiesInput): Promise<Uint8Array> => {
    const received = structuredClone(input);
    jobs.push(received.lengths.length);
    await new Promise<void>((resolve) => started.push(resolve));
    return digestBodies(received);
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

const hexOf = ({ sha256, hmac }: Digests) => [sha256, hmac].map((digest) => Buffer.from(digest).toString('hex'));

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

test('[MIR-9] bodies of any lengths that follow one another in the memory of a job keep to their own bytes and keys', async () => {
  const { digests, jobs, finishOne } = open();
  const round = async (lengths: readonly number[]) => {
    const sent = lengths.map((length, index) => ({ ...bodyOf(length), key: Uint8Array.from([index, length % 256]) }));
    const results = sent.map(({ bytes, key }) => digests.of({ bytes, hmacKey: key }, { accountId: 'a' }));
    await nextRound();
    finishOne();
    for (const [index, digested] of (await Promise.all(results)).entries()) {
      const { bytes, key } = sent[index] as (typeof sent)[number];
      expect(hexOf(digested)).toEqual(hexOf(digestsOf(bytes, key)));
    }
  };
  // The memory of the first job is used again for the second, whose bodies lie elsewhere in it.
  await round(Array.from({ length: limits.bodiesDigestedAtOnce }, () => limits.wholeUploadBytesMax));
  await round([LONG, limits.wholeUploadBytesMax, LONG + 1, LONG]);
  expect(jobs).toEqual([limits.bodiesDigestedAtOnce, 4]);
});

test('[MIR-9] a short body is digested at once, without a job', async () => {
  const { digests, jobs } = open();
  const { bytes, body } = bodyOf(limits.hashedHereBytesMax);
  const { sha256 } = await digests.of(body, {});
  expect(Buffer.from(sha256)).toEqual(createHash('sha256').update(bytes).digest());
  expect(jobs).toEqual([]);
});

test('[MIR-9] bodies of one round share a job, a second job waits for half as many as fit, and later ones share the next', async () => {
  const { digests, jobs, finishOne } = open();
  const half = limits.bodiesDigestedAtOnce / 2;
  const send = (count: number) =>
    Array.from({ length: count }, () => digests.of(bodyOf(LONG).body, { accountId: 'a' }));
  const first = send(3);
  await nextRound();
  expect(jobs).toEqual([3]);
  const second = send(half - 1);
  await nextRound();
  expect(jobs).toEqual([3]);
  second.push(...send(1));
  await nextRound();
  expect(jobs).toEqual([3, half]);
  const third = [...send(half), ...send(2)];
  await nextRound();
  expect(jobs).toEqual([3, half]);
  finishOne();
  await Promise.all(first);
  await nextRound();
  expect(jobs).toEqual([3, half, half + 2]);
  const last = send(1);
  await nextRound();
  finishOne();
  await Promise.all(second);
  await nextRound();
  expect(jobs).toEqual([3, half, half + 2]);
  finishOne();
  await Promise.all(third);
  await nextRound();
  expect(jobs).toEqual([3, half, half + 2, 1]);
  finishOne();
  await Promise.all(last);
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
  // A job starts up to a round after the one before it.
  for (let round = 0; round < 12; round += 1) {
    finishOne();
    await nextRound();
  }
  await all;
});

test('[OPS-3] a job that fails is repeated once, with all its bodies; then it fails them alone', async () => {
  let failures = 0;
  const jobs: number[] = [];
  const digests = new BodyDigests((input) => {
    jobs.push(input.lengths.length);
    failures -= 1;
    if (failures >= 0) return Promise.reject(new Error('the thread died'));
    return Promise.resolve(digestBodies(input));
  });
  const sent = Array.from({ length: 3 }, () => bodyOf(LONG));
  failures = 1;
  const digested = await Promise.all(sent.map(({ body }) => digests.of(body, {})));
  expect(digested.map(hexOf)).toEqual(sent.map(({ bytes }) => hexOf(digestsOf(bytes, hmacKey))));
  failures = 2;
  await expect(digests.of(bodyOf(LONG).body, {})).rejects.toThrow('the thread died');
  await expect(digests.of(bodyOf(LONG).body, {})).resolves.toBeDefined();
  expect(jobs).toEqual([3, 3, 1, 1, 1]);
});
