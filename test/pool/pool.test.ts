/** The worker threads: right results, and a thread that dies takes only its own jobs with it. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import type { Caller } from '../../src/common/shares.ts';
import { limits } from '../../src/limits/service.ts';
import type { DigestMessage, DigestReturn, Digests, ParsedBody } from '../../src/pool/jobs.ts';
import { Pool } from '../../src/pool/pool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const REAL = new URL('../../dist/workers/', import.meta.url);
const DYING = new URL('./fixtures/', import.meta.url);
const hmacKey = Buffer.from('a key');

let pool: Pool | undefined;
afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

function open(workersFolder: URL, threads: number): Pool {
  pool = new Pool({ threads, workersFolder });
  return pool;
}

/** A small job. */
function parse(on: Pool, text: string, caller: Caller = {}): Promise<ParsedBody> {
  return on.run('parseBody', { parts: [Buffer.from(JSON.stringify({ text }))], form: { kind: 'document' } }, caller);
}

const parsed = (text: string): ParsedBody => ({
  ok: true,
  document: { value: { text } },
  ids: [],
  contents: [],
  bytes: JSON.stringify({ text }).length,
  spare: [],
});

/** Node.js 20 aborts the process when a thread is ended while `require` links an ES module. */
test('[OPS-3] threads load their files with import, so that a stop at that moment aborts nothing', async () => {
  const input = { password: '', hash: '' };
  expect(await open(DYING, 1).run('verifyPassword', input)).not.toContain('require');
});

test('[OPS-3] a thread that cannot start fails the jobs that wait for it, and the next job starts another', async () => {
  const folder = temporaryFolder();
  const on = open(pathToFileURL(`${folder}/`), 1);
  const verify = () => on.run('verifyPassword', { password: '', hash: '' });
  const failures = await Promise.allSettled([verify(), verify(), verify()]);
  for (const failure of failures) expect(failure).toMatchObject({ reason: { message: /digest\.js/ } });
  cpSync(DYING, folder, { recursive: true });
  expect(await verify()).toContain('password.js');
});

function expectDigests(actual: Digests | undefined, bytes: Uint8Array): void {
  expect(Buffer.from(actual?.sha256 ?? []).toString('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(Buffer.from(actual?.hmac ?? []).toString('hex')).toBe(
    createHmac('sha256', hmacKey).update(bytes).digest('hex'),
  );
}

/** A digest stream that runs: what is sent to it, and what becomes of it. */
function openStream(on: Pool) {
  const { port1, port2 } = new MessageChannel();
  const result = on.run('digestStream', { port: port2, hmacKey }, {}, [port2]);
  return {
    port: port1,
    /** Never rejects: gives the digests or the error. */
    outcome: result.catch((error: unknown) => error),
    send(text: string | Uint8Array) {
      const bytes = Uint8Array.from(typeof text === 'string' ? Buffer.from(text) : text);
      post(port1, { type: 'chunk', buffer: bytes.buffer, length: bytes.length });
    },
    end: () => post(port1, { type: 'end' }),
  };
}

function post(port: MessagePort, message: DigestMessage): void {
  port.postMessage(message);
}

async function threadOf(port: MessagePort): Promise<number> {
  const [hello] = (await once(port, 'message')) as [{ threadId: number }];
  return hello.threadId;
}

test.each([0, 1, 64, 65_536, 1_048_576])('[MIR-9] a worker digests %i bytes in one chunk', async (size) => {
  const bytes = randomBytes(size);
  const stream = openStream(open(REAL, 1));
  stream.send(bytes);
  stream.end();
  expectDigests((await stream.outcome) as Digests, bytes);
  stream.port.close();
});

test('[MIR-9] a worker digests a stream chunk by chunk and gives each buffer back in order', async () => {
  const stream = openStream(open(REAL, 1));
  const parts = [1, 65_536, 1_048_576, 7].map((size) => randomBytes(size));
  const returned: number[] = [];
  stream.port.on('message', (message: DigestReturn) => returned.push(message.buffer.byteLength));
  for (const part of parts) stream.send(part);
  stream.end();
  expectDigests((await stream.outcome) as Digests, Buffer.concat(parts));
  // The digests come over another channel, and may overtake the last buffers.
  while (returned.length < parts.length) await once(stream.port, 'message');
  expect(returned).toEqual(parts.map((part) => part.length));
  stream.port.close();
});

test('[MIR-9] many streams and jobs at once on one thread keep to their own bytes', async () => {
  const on = open(REAL, 1);
  const streams = Array.from({ length: 30 }, () => ({ ...openStream(on), parts: [] as Buffer[] }));
  for (let turn = 0; turn < 5; turn += 1) {
    for (const stream of streams) {
      const part = randomBytes(1000);
      stream.parts.push(part);
      stream.send(part);
    }
  }
  const text = randomBytes(5000).toString('hex');
  expect(await parse(on, text)).toEqual(parsed(text));
  for (const stream of streams) {
    stream.end();
    expectDigests((await stream.outcome) as Digests, Buffer.concat(stream.parts));
    stream.port.close();
  }
});

test('[MIR-9, OPS-3] whole bodies are digested in a thread of their own; one that dies is replaced', async () => {
  const on = open(DYING, 1);
  const digest = (text: string) => {
    const bytes = Buffer.alloc(limits.hashedHereBytesMax + 1, `${text} `);
    return { bytes, digested: on.bodies.of({ bytes, hmacKey }, { accountId: text }) };
  };
  // The thread of other jobs is busy until the end.
  const stream = openStream(on);
  const stuck = digest('die');
  await expect(stuck.digested).rejects.toThrow();
  for (const { bytes, digested } of ['one', 'two', 'three'].map(digest)) expectDigests(await digested, bytes);
  stream.send('still there');
  stream.end();
  expectDigests((await stream.outcome) as Digests, Buffer.from('still there'));
  stream.port.close();
});

test('[OPS-3] whole bodies whose thread dies are digested by the next one', async () => {
  const on = open(DYING, 1);
  const file = join(temporaryFolder(), 'died');
  const sent = ['one', `once ${file}`, 'two', 'three'].map((text) =>
    Buffer.alloc(limits.wholeUploadBytesMax, `${text} `),
  );
  const digested = sent.map((bytes) => on.bodies.of({ bytes, hmacKey }, { accountId: 'a' }));
  for (const [at, digests] of (await Promise.all(digested)).entries()) expectDigests(digests, sent[at] as Buffer);
  expect(existsSync(file)).toBe(true);
});

test('[MIR-16] a stream whose sender goes away ends without digests', async () => {
  const stream = openStream(open(REAL, 1));
  stream.send('half of it');
  stream.port.close();
  expect(await stream.outcome).toBeUndefined();
});

test('[OPS-3] a worker that dies fails its own job and is replaced', async () => {
  const on = open(DYING, 1);
  for (let round = 0; round < 3; round += 1) {
    await expect(parse(on, 'die')).rejects.toThrow();
    expect(await parse(on, `round ${round}`)).toEqual(parsed(`round ${round}`));
  }
});

test('[OPS-3] a job that throws fails alone, and its thread lives on', async () => {
  const on = open(DYING, 1);
  const before = await parse(on, 'which thread');
  expect(before).toMatchObject({ ok: true, document: { value: { threadId: expect.any(Number) } } });
  await expect(parse(on, 'throw')).rejects.toThrow('the job failed');
  expect(await parse(on, 'which thread')).toEqual(before);
});

test('[OPS-3] what runs on another thread does not notice, what runs on the same one is told', async () => {
  const on = open(DYING, 2);
  const streams = Array.from({ length: 8 }, () => openStream(on));
  const threads = await Promise.all(streams.map(({ port }) => threadOf(port)));
  expect(new Set(threads).size).toBe(2);
  for (const stream of streams) stream.send('first half, ');
  streams[0]?.send('die');
  await streams[0]?.outcome;
  for (const [at, stream] of streams.entries()) {
    stream.send('second half');
    stream.end();
    const outcome = await stream.outcome;
    if (threads[at] === threads[0]) expect(outcome).toBeInstanceOf(Error);
    else expectDigests(outcome as Digests, Buffer.from('first half, second half'));
    stream.port.close();
  }
  const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`);
  expect(await Promise.all(texts.map((text) => parse(on, text)))).toEqual(texts.map(parsed));
});

test('[OPS-3] many jobs with deaths between them: every one of them ends, and the pool works on', async () => {
  const on = open(DYING, 2);
  const jobs = Array.from({ length: 60 }, (_, at) => parse(on, at % 20 === 10 ? 'die' : `text ${at}`));
  const outcomes = await Promise.allSettled(jobs);
  expect(outcomes[10]?.status).toBe('rejected');
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(parsed(`text ${at}`));
  }
  for (let count = 0; count < 10; count += 1) expect(await parse(on, 'later')).toEqual(parsed('later'));
});

test('[OPS-3, NET-11] a full queue is refused as overloaded, and runs empty again; streams leave room for jobs', async () => {
  const on = open(DYING, 1);
  const streamsMax = limits.poolJobsPerThread - limits.poolJobsKept;
  const streams = Array.from({ length: streamsMax }, () => openStream(on));
  const refused = openStream(on);
  expect(await refused.outcome).toMatchObject({ fault: { kind: 'overloaded' } });
  refused.port.close();
  // A caller's own part, and the last of it for whoever has none yet.
  const greedy = { accountId: 'greedy', address: '10.0.0.1' };
  const own = Array.from({ length: (limits.poolQueueMax * 3) / 4 }, () => parse(on, 'own', greedy));
  await expect(parse(on, 'own', greedy)).rejects.toMatchObject({ fault: { kind: 'overloaded' } });
  const other = parse(on, 'own', { accountId: 'other', address: '10.0.0.1' });
  const rest = Array.from({ length: limits.poolQueueMax / 4 - 1 }, () => parse(on, 'own'));
  await expect(parse(on, 'own')).rejects.toMatchObject({ fault: { kind: 'overloaded' } });
  const queued = [...own, other, ...rest];
  for (const stream of streams) stream.end();
  for (const result of await Promise.all(queued)) expect(result).toEqual(parsed('own'));
  for (const stream of streams) {
    expectDigests((await stream.outcome) as Digests, Buffer.alloc(0));
    stream.port.close();
  }
});

test('[NET-11] a short job is answered before the second long one of somebody who came first', async () => {
  const on = open(REAL, 2);
  // Both threads run: the start of one may take longer than two passwords.
  await Promise.all(['one', 'two'].map((accountId) => parse(on, 'first', { accountId })));
  const order: string[] = [];
  const long = Array.from({ length: 4 }, (_, at) =>
    on
      .run('hashPassword', { password: `battery staple ${at}`, breachedFile: undefined }, { accountId: 'eager' })
      .then(() => void order.push('long')),
  );
  await Promise.all([...long, parse(on, 'short', { accountId: 'calm' }).then(() => void order.push('short'))]);
  expect(order.indexOf('short')).toBeLessThanOrEqual(1);
});

test('[LIM-4, NET-11] all networks of one site that sign up take one turn, and somebody else the next', async () => {
  const on = open(REAL, 1);
  const order: string[] = [];
  const signUp = (address: string, what: string) =>
    on
      .run('hashPassword', { password: `battery staple ${address}`, breachedFile: undefined }, { address })
      .then(() => void order.push(what));
  const site = Array.from({ length: 16 }, (_, at) => signUp(`2001:db8:a:${(at * 256).toString(16)}::/64`, 'site'));
  await Promise.all([...site, signUp('2001:db8:b:0::/64', 'other'), signUp('192.0.2.1', 'another')]);
  // One ran already; of those that wait, each has a turn before any has a second.
  expect(order.slice(0, 4).toSorted()).toEqual(['another', 'other', 'site', 'site']);
});

test('[NET-11] a sign-in from anywhere is served among the first, however many addresses sign up', async () => {
  const on = open(REAL, 1);
  const breachedFile = undefined;
  const hashed = await on.run('hashPassword', { password: 'correct horse battery', breachedFile });
  const hash = hashed.ok ? hashed.hash : '';
  const order: string[] = [];
  const done = (what: string) => () => void order.push(what);
  const flood = Array.from({ length: 60 }, (_, at) =>
    on
      .run('hashPassword', { password: `battery staple ${at}`, breachedFile }, { address: `10.0.${at}.1` })
      .then(done('sign-up')),
  );
  const known = on.run('verifyPassword', { hash, password: 'wrong' }, { accountId: 'somebody' }).then(done('known'));
  const stranger = { address: '10.9.9.9' };
  const signIn = on.run('verifyPassword', { hash, password: 'correct horse battery' }, stranger);
  await Promise.all([...flood, known, signIn.then(done('sign-in'))]);
  expect(await signIn).toBe(true);
  // Two sign-ups ran already; then the kinds of callers take turns.
  expect(order.slice(0, 6).toSorted()).toEqual(['known', 'sign-in', 'sign-up', 'sign-up', 'sign-up', 'sign-up']);
  expect(order).toHaveLength(62);
});
