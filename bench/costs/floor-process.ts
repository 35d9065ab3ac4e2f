/**
 * Child program: the floor of a durable write on this stack, one step at a time. Each step does all that the one before
 * does, without any checks: arguments are the port's parent channel, a folder, the step, and what is written.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { Packr } from 'msgpackr';
import { listenExclusively } from '../../src/http/library/listen.ts';
import { App, type HttpResponse, localPortOf } from '../../src/http/library/uws.ts';
import { FLOOR_STEPS, type FloorStep, type FloorWork } from './floor-steps.ts';

const [folder, step, work] = process.argv.slice(2) as [string, FloorStep, FloorWork];
const has = (other: FloorStep) => FLOOR_STEPS.indexOf(step) >= FLOOR_STEPS.indexOf(other);

type Key = (string | number)[];
const root = open<Buffer, Key>({
  path: join(folder, 'floor.mdb'),
  noSubdir: true,
  encoding: 'binary',
  keyEncoding: 'ordered-binary',
  maxDbs: 16,
  overlappingSync: false,
  mapSize: 2 ** 36,
});
const tableOf = (name: string) =>
  root.openDB({ name, encoding: 'binary', keyEncoding: 'ordered-binary' }) as Database<Buffer, Key>;
const [records, changes, items, rows, heads] = ['records', 'changes', 'items', 'rows', 'heads'].map(tableOf) as [
  Database<Buffer, Key>,
  Database<Buffer, Key>,
  Database<Buffer, Key>,
  Database<Buffer, Key>,
  Database<Buffer, Key>,
];

const OWNER = 'acc_01234567890123456789';
const packr = new Packr({ useRecords: false, variableMapSize: true });
const small = Buffer.from('12345678');
const headNames = ['tasks', 'counts', 'days', 'usage', 'changes'];

interface Waiting {
  readonly exchange: Exchange;
  readonly document: Record<string, unknown>;
  readonly value: Buffer;
}

let number = 0;
let waiting: Waiting[] = [];
let isScheduled = false;

/** One request. Its response may not be used once the client is gone. */
class Exchange {
  isGone = false;
  readonly #res: HttpResponse;

  constructor(res: HttpResponse) {
    this.#res = res;
    res.onAborted(() => {
      this.isGone = true;
    });
  }

  answer(text: string): void {
    if (this.isGone) return;
    this.#res.cork(() => this.#res.writeHeader('Content-Type', 'application/json').end(text));
  }
}

/** The rows of a task: itself, its change and that change's place, four orders, and twice what a full account drops. */
function putTask(value: Buffer): void {
  const id = number;
  void records.put([OWNER, id], value);
  if (!has('rows')) return;
  if (has('reads')) changes.getBinaryFast([OWNER, id - 10_000]);
  void changes.put([OWNER, id], value);
  void items.put([OWNER, 'tasks', id, id], small);
  void changes.remove([OWNER, id - 10_000]);
  void items.remove([OWNER, 'tasks', id - 10_000, id - 10_000]);
  for (const order of ['created', 'updated', 'due', 'content']) void rows.put([OWNER, `*:${order}:2`, id, id], small);
}

/** The rows of a pushed file: its version with the content, and its current state. */
function putFile(value: Buffer): void {
  const id = number;
  const path: Key = [OWNER, `folder/file-${id % 10_000}.md`];
  void records.put([OWNER, id], value);
  if (!has('rows')) return;
  if (has('reads')) {
    rows.getBinaryFast(path);
    changes.getBinaryFast([OWNER]);
  }
  void rows.put(path, value.subarray(0, Math.min(250, value.length)));
}

function commit(): void {
  let group: Waiting[] = [];
  const committed = root.transactionAsync(() => {
    isScheduled = false;
    group = waiting;
    waiting = [];
    if (has('reads')) for (const name of headNames) heads.getBinaryFast([OWNER, name]);
    for (const { value } of group) {
      number += 1;
      if (work === 'task') putTask(value);
      else putFile(value);
    }
    if (has('rows')) for (const name of headNames) void heads.put([OWNER, name], small);
  }) as unknown as Promise<unknown>;
  void committed.then(() => {
    for (const { exchange, document } of group)
      exchange.answer(JSON.stringify({ jsonrpc: '2.0', id: 1, result: document }));
  });
}

function handle(exchange: Exchange, pairs: readonly (readonly [string, string])[], bytes: Buffer): void {
  if (!has('json')) {
    exchange.answer('{"jsonrpc":"2.0","id":1,"result":{}}');
    return;
  }
  const text = bytes.toString();
  const document = JSON.parse(text) as Record<string, unknown>;
  document['headers'] = pairs.length;
  if (work === 'file' && has('hashes')) {
    const { content } = document as { content: string };
    document['sha256'] = hash('sha256', content);
    document['git'] = hash('sha1', `blob ${content.length}\0${content}`);
  }
  if (!has('row')) {
    exchange.answer(JSON.stringify({ jsonrpc: '2.0', id: 1, result: document }));
    return;
  }
  waiting.push({ exchange, document, value: work === 'task' ? packr.pack(document) : Buffer.from(text) });
  if (isScheduled) return;
  isScheduled = true;
  commit();
}

const app = App().any('/*', (res, req) => {
  const pairs: (readonly [string, string])[] = [];
  req.forEach((name, value) => {
    pairs.push([name, value]);
  });
  let received = Buffer.alloc(0);
  const exchange = new Exchange(res);
  res.onData((part, isLast) => {
    received = received.length === 0 ? Buffer.from(Buffer.from(part)) : Buffer.concat([received, Buffer.from(part)]);
    if (isLast) handle(exchange, pairs, received);
  });
});
const socket = listenExclusively(app, '127.0.0.1', 0);
if (socket === undefined) throw new Error('no port of this machine is free');
process.once('disconnect', () => process.exit(0));
process.send?.(localPortOf(socket));
