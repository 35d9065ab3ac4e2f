/**
 * Child program: the HTTP library with nothing behind it, as the least that this machine and a load cost. It reads
 * whatever is sent and answers with bytes that a hub answered with before. Argument: the folder of these bytes. A request
 * names the file of its answer in a header; without such a file, the answer is empty.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listenExclusively } from '../../src/http/library/listen.ts';
import { App, type HttpResponse, localPortOf } from '../../src/http/library/uws.ts';

import { FLOOR_HEADER } from './load.ts';

const [folder = ''] = process.argv.slice(2);
const answers = new Map<string, Uint8Array>();

function answerOf(name: string): Uint8Array {
  const known = answers.get(name);
  if (known !== undefined) return known;
  const file = join(folder, name);
  const bytes = existsSync(file) ? readFileSync(file) : new Uint8Array(0);
  answers.set(name, bytes);
  return bytes;
}

function answer(res: HttpResponse, bytes: Uint8Array): void {
  if (bytes.length === 0) {
    res.end('');
    return;
  }
  const sendFrom = (offset: number) => res.tryEnd(bytes.subarray(offset), bytes.length)[0];
  res.onWritable(sendFrom);
  sendFrom(0);
}

const app = App().any('/*', (res, req) => {
  const bytes = answerOf(req.getHeader(FLOOR_HEADER.toLowerCase()));
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  if (req.getHeader('content-length') === '') {
    answer(res, bytes);
    return;
  }
  res.onData((_, isLast) => {
    if (isLast && !isGone) res.cork(() => answer(res, bytes));
  });
});
const socket = listenExclusively(app, '127.0.0.1', 0);
if (socket === undefined) throw new Error('no port of this machine is free');
process.once('disconnect', () => process.exit(0));
process.send?.(localPortOf(socket));
