/**
 * The socket of a running watch, for programs of the same user: HTTP, so that curl and any language can ask it. `GET /status`
 * is its standing as JSON, `GET /prompt` one short line. It lies in `.cairn`, which only the user may enter.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { OWN_FOLDER } from '../folder/path.ts';
import { type FolderStanding, promptOf, stateOf } from './standing.ts';

const NAME = 'watch.sock';
/** Bytes of the path of a socket: 104 with its end on macOS, 108 on Linux (unix(7)). */
const PATH_BYTES_MAX = 103;
const ANSWER_MS = 2000;

interface Place {
  readonly path: string;
  /** Frees what makes the path short. */
  readonly free: () => void;
}

/** Where the socket of a folder is. Undefined where its path is too long, and the system has no shorter one. */
function placeOf(folder: string): Place | undefined {
  const free = () => undefined;
  if (process.platform === 'win32') {
    const name = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    return { path: `\\\\.\\pipe\\cairn-sync-${name}`, free };
  }
  const own = join(folder, OWN_FOLDER);
  const path = join(own, NAME);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path, free };
  if (process.platform !== 'linux') return undefined;
  const descriptor = openSync(own, 'r');
  return { path: `/proc/self/fd/${descriptor}/${NAME}`, free: () => closeSync(descriptor) };
}

/** Answers on the socket of a folder until closed. A disk without sockets has none: a status compares with the hub then. */
export function openLocalSocket(folder: string, standing: () => FolderStanding): { readonly close: () => void } {
  const place = placeOf(folder);
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

/** How a folder stands, from its running watch; undefined when none runs. */
export async function askWatch(folder: string): Promise<FolderStanding | undefined> {
  const place = placeIfThere(folder);
  if (place === undefined) return undefined;
  try {
    return JSON.parse(await get(place.path, '/status')) as FolderStanding;
  } catch {
    // None runs, or it was killed.
    return undefined;
  } finally {
    place.free();
  }
}

function placeIfThere(folder: string): Place | undefined {
  try {
    return placeOf(folder);
  } catch {
    // It was never synced.
    return undefined;
  }
}

function get(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, timeout: ANSWER_MS }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(text));
      answer.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end();
  });
}
