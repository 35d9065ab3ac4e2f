/** Child program: one route of the HTTP library, reading the whole body and sending the same bytes to every request. */

import { readFileSync } from 'node:fs';
import { App } from '../../../src/http/library/uws.ts';

const [port = '0', replyFile = ''] = process.argv.slice(2);
const reply = readFileSync(replyFile);

App()
  .post('/*', (response) => {
    response.onAborted(() => undefined);
    response.onData((_part, isLast) => {
      if (isLast) response.cork(() => response.writeHeader('Content-Type', 'application/json').end(reply));
    });
  })
  .listen('127.0.0.1', Number(port), () => undefined);
