/** The connection that a request of the command line reuses. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { sendRequest } from '../../src/client/http.ts';

/** A server on a thread of its own: it answers while this thread computes, and closes what is idle for 50 ms. */
const SERVER = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((socket) => {
    let idle;
    socket.on('data', () => {
      clearTimeout(idle);
      socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}');
      idle = setTimeout(() => socket.destroy(), 50);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('[MIR-20] an upload after a long computation, such as of a passphrase, gets a connection that is still open', async () => {
  const worker = new Worker(SERVER, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, 'message')) as [number];
  const server = `http://127.0.0.1:${port}`;
  expect((await sendRequest(server, '/first')).status).toBe(200);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  expect((await sendRequest(server, '/second', { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(200);
});
