/**
 * Asks a running watch how its folder stands, by its socket. It speaks the little of HTTP/1.0 that this takes: `node:http`
 * costs more than the rest of a status.
 */
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { OWN_FOLDER } from '../folder/path.ts';
import type { FolderStanding } from './standing.ts';

const NAME = 'watch.sock';
/** Bytes of the path of a socket: 104 with its end on macOS, 108 on Linux (unix(7)). */
const PATH_BYTES_MAX = 103;
/** Of the end of a path: a name of a pipe has at most 256 characters. */
const PIPE_CHARS = 200;
const ANSWER_MS = 2000;

export interface SocketPlace {
  readonly path: string;
  /** Frees what makes the path short. */
  readonly free: () => void;
}

/** Where the socket of a folder is. Undefined where its path is too long, and the system has no shorter one. */
export function socketPlaceOf(folder: string): SocketPlace | undefined {
  const free = () => undefined;
  if (process.platform === 'win32') {
    // A hash would need a module that costs as much as the rest of a status.
    const name = folder.replace(/[\\/:]/g, '-').slice(-PIPE_CHARS);
    return { path: `\\\\.\\pipe\\cairn-sync-${name}`, free };
  }
  const own = join(folder, OWN_FOLDER);
  const path = join(own, NAME);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path, free };
  if (process.platform !== 'linux') return undefined;
  const descriptor = openSync(own, 'r');
  return { path: `/proc/self/fd/${descriptor}/${NAME}`, free: () => closeSync(descriptor) };
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

function placeIfThere(folder: string): SocketPlace | undefined {
  try {
    return socketPlaceOf(folder);
  } catch {
    // It was never synced.
    return undefined;
  }
}

/** The body of an answer; its connection ends with it (RFC 1945). */
function get(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(socketPath, () => socket.write(`GET ${path} HTTP/1.0\r\n\r\n`));
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer')));
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(text.slice(text.indexOf('\r\n\r\n') + 4)));
  });
}
