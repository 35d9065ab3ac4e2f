/** Child program: sends one request over each of many bare sockets, and reads the responses slowly or not at all. */
import { connect, type Socket } from 'node:net';
import type { ReadersJob, ReadersOrder, ReadersReport } from './readers.ts';

/** Reads per second of each reader, few enough to cost little. */
const READS_PER_SECOND = 2;
const STATUS_BYTES = 12;

class Reader {
  readonly socket: Socket;
  readonly #takenAtOnce: number;
  #isDraining = false;
  status = '';
  bytes = 0;
  ended = false;

  /** `onFirst` is called with the first bytes, or when the connection ends without any. */
  constructor({ port, request, bytesPerSecond }: ReadersJob, onFirst: () => void) {
    this.#takenAtOnce = Math.max(bytesPerSecond / READS_PER_SECOND, 1024);
    const take = (length: number, buffer: Uint8Array) => {
      const isFirst = this.bytes === 0;
      if (isFirst) this.status = Buffer.from(buffer.subarray(9, STATUS_BYTES)).toString('latin1');
      this.bytes += length;
      if (isFirst) onFirst();
      // False: pauses reading until resumed.
      return this.#isDraining;
    };
    const onread = { buffer: Buffer.allocUnsafe(this.#takenAtOnce), callback: take };
    this.socket = connect({ port, host: '127.0.0.1', onread });
    this.socket.on('error', () => undefined);
    this.socket.once('close', () => {
      this.ended = true;
      if (this.bytes === 0) onFirst();
    });
    this.socket.write(request, 'latin1');
  }

  /** Reads once. */
  read(): void {
    if (!this.ended) this.socket.resume();
  }

  drain(): void {
    this.#isDraining = true;
    this.read();
  }
}

function startAll(job: ReadersJob): Reader[] {
  let first = 0;
  const onFirst = () => {
    first += 1;
    if (first === job.connections) process.send?.(reportOf(readers));
  };
  const readers = Array.from({ length: job.connections }, () => new Reader(job, onFirst));
  if (job.bytesPerSecond > 0) readAll(readers);
  return readers;
}

/** Readers take turns, spread over the interval between two reads. */
function readAll(readers: readonly Reader[]): void {
  let next = 0;
  const ticksPerSecond = 100;
  const perTick = (readers.length * READS_PER_SECOND) / ticksPerSecond;
  let due = 0;
  setInterval(() => {
    for (due += perTick; due >= 1; due -= 1) {
      readers[next % readers.length]?.read();
      next += 1;
    }
  }, 1000 / ticksPerSecond);
}

function reportOf(readers: readonly Reader[]): ReadersReport {
  const statuses: Record<string, number> = {};
  for (const { status } of readers) statuses[status || 'none'] = (statuses[status || 'none'] ?? 0) + 1;
  return {
    statuses,
    bytes: readers.reduce((sum, { bytes }) => sum + bytes, 0),
    ended: readers.filter(({ ended }) => ended).length,
  };
}

async function drain(readers: readonly Reader[], bytesMax: number): Promise<void> {
  const limit = new Map(readers.map((reader) => [reader, reader.bytes + bytesMax]));
  for (const reader of readers) reader.drain();
  const isDone = (reader: Reader) => reader.ended || reader.bytes > (limit.get(reader) ?? 0);
  while (!readers.every(isDone)) await new Promise((resolve) => setTimeout(resolve, 50));
}

process.once('message', (job: ReadersJob) => {
  const readers = startAll(job);
  process.on('message', (order: ReadersOrder) => {
    if (order.kind === 'report') process.send?.(reportOf(readers));
    else void drain(readers, order.bytesMax).then(() => process.send?.(reportOf(readers)));
  });
});
process.once('disconnect', () => process.exit(0));
