/**
 * The socket of a running watch, for programs of the same user: HTTP, so that curl and any language can ask it. `GET /status`
 * is its standing as JSON, `GET /prompt` one short line. It lies in `.cairn`, which only the user may enter.
 */
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { socketPlaceOf } from './ask-watch.ts';
import { type FolderStanding, promptOf, stateOf } from './standing.ts';

/** Answers on the socket of a folder until closed. A disk without sockets has none: a status compares with the hub then. */
export function openLocalSocket(folder: string, standing: () => FolderStanding): { readonly close: () => void } {
  const place = socketPlaceOf(folder);
  if (place === undefined) return { close: () => undefined };
  const server = createServer((asked, answer) => {
    const now = standing();
    if (asked.url === '/status') {
      answer.setHeader('Content-Type', 'application/json');
      answer.end(`${JSON.stringify({ state: stateOf(now), ...now })}\n`);
    } else if (asked.url === '/prompt') {
      answer.setHeader('Content-Type', 'text/plain; charset=utf-8');
      answer.end(`${promptOf(now)}\n`);
    } else {
      answer.statusCode = 404;
      answer.end();
    }
  });
  server.on('error', () => undefined);
  // The lock of the watch is held: what is there is left of a watch that was killed.
  if (process.platform !== 'win32') rmSync(place.path, { force: true });
  server.listen(place.path);
  server.unref();
  return {
    close() {
      server.close(place.free);
      server.closeAllConnections();
    },
  };
}
