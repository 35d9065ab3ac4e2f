/**
 * Owns the control socket in the data folder. It is both the lock (whoever is bound to it has the folder, and the kernel
 * lets go of it with the process, however that ends) and the way in for the command line, with the folder's own rights.
 */
import { chmodSync, closeSync, mkdirSync, openSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { StartError } from '../common/start-error.ts';
import { limits } from '../limits/service.ts';

const SOCKET_FILE = 'control.sock';
const TAKEOVER_FOLDER = 'control.takeover';
/** A takeover is a few system calls; an older mark is what a killed process left. */
const TAKEOVER_MS_MAX = 10_000;

/** A listening socket and who is connected to it. */
interface Bound {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
}

/** Who asked, for work that takes long. */
export interface ControlCaller {
  /** Sends a line before the answer. */
  readonly tell: (line: string) => void;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Answers one line. It must not throw. */
export type ControlHandler = (line: string, caller: ControlCaller) => Promise<string>;

export class ControlSocket {
  readonly #bound: Bound;
  readonly #folderDescriptor: number;

  private constructor(bound: Bound, folderDescriptor: number) {
    this.#bound = bound;
    this.#folderDescriptor = folderDescriptor;
  }

  /**
   * Takes the data folder.
   * @throws StartError when another process has it
   */
  static async acquire(folder: string, handler: ControlHandler): Promise<ControlSocket> {
    const descriptor = openSync(folder, 'r');
    const path = socketPath(folder, descriptor);
    try {
      const bound = (await bind(path, handler)) ?? (await takeOver(folder, path, handler));
      chmodSync(join(folder, SOCKET_FILE), 0o600);
      return new ControlSocket(bound, descriptor);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  async release(): Promise<void> {
    const closed = new Promise<void>((done) => this.#bound.server.close(() => done()));
    for (const socket of this.#bound.sockets) socket.destroy();
    await closed;
    closeSync(this.#folderDescriptor);
  }
}

/**
 * Sends one line to the process that has the folder and gives its answer; undefined when none has it. `takes`: looks at a
 * line that came, and is true for one that is told before the answer. `signal`: nobody waits any more; what is under way is
 * broken off there.
 */
export async function askControl(
  folder: string,
  line: string,
  takes: (line: string) => boolean = () => false,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let descriptor: number;
  try {
    descriptor = openSync(folder, 'r');
  } catch {
    // No such folder, or not ours to read: the caller finds out which when it opens the store.
    return undefined;
  }
  try {
    const socket = await dial(socketPath(folder, descriptor));
    if (socket === undefined) return undefined;
    signal?.addEventListener('abort', () => socket.destroy(new StartError('the command was broken off.')));
    socket.end(`${line}\n`);
    return await readLine(socket, takes);
  } finally {
    closeSync(descriptor);
  }
}

/** A socket's path may have about 100 bytes; through the open folder on Linux it is always short. */
function socketPath(folder: string, descriptor: number): string {
  return process.platform === 'linux'
    ? `/proc/self/fd/${descriptor}/${SOCKET_FILE}`
    : join(resolve(folder), SOCKET_FILE);
}

/** The bound server; undefined when the name is taken, by a living process or by a dead one's leftover. */
function bind(path: string, handler: ControlHandler): Promise<Bound | undefined> {
  return new Promise((done, fail) => {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      void serve(socket, handler);
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') done(undefined);
      else fail(error);
    });
    server.listen(path, () => done({ server, sockets }));
  });
}

/** The name is taken. If nobody answers behind it, exactly one process may remove it and bind anew. */
async function takeOver(folder: string, path: string, handler: ControlHandler): Promise<Bound> {
  await refuseIfAlive(path);
  const mark = join(folder, TAKEOVER_FOLDER);
  markTakeover(mark);
  try {
    await refuseIfAlive(path);
    unlinkSync(join(folder, SOCKET_FILE));
    const bound = await bind(path, handler);
    if (bound === undefined) throw taken();
    return bound;
  } finally {
    rmdirSync(mark);
  }
}

function markTakeover(mark: string): void {
  try {
    mkdirSync(mark);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (Date.now() - statSync(mark).mtimeMs < TAKEOVER_MS_MAX) throw taken();
    rmdirSync(mark);
    mkdirSync(mark);
  }
}

async function refuseIfAlive(path: string): Promise<void> {
  const socket = await dial(path);
  if (socket === undefined) return;
  socket.destroy();
  throw taken();
}

function taken(): StartError {
  return new StartError(
    'another cairn process has this data folder (CAIRN_DATA); stop it first, or give this one a folder of its own.',
  );
}

/** A connection; undefined when nobody listens. */
function dial(path: string): Promise<Socket | undefined> {
  return new Promise((done, fail) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('connect', () => done(socket));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') done(undefined);
      else fail(error);
    });
  });
}

async function serve(socket: Socket, handler: ControlHandler): Promise<void> {
  try {
    const line = await readLine(socket);
    const gone = new AbortController();
    socket.on('close', () => gone.abort());
    const tell = (text: string) => void socket.write(`${text}\n`);
    socket.end(`${await handler(line, { tell, signal: gone.signal })}\n`);
  } catch {
    // The other side vanished or sent no line: there is nobody to answer.
    socket.destroy();
  }
}

/** The first line that `takes` leaves. */
function readLine(socket: Socket, takes: (line: string) => boolean = () => false): Promise<string> {
  return new Promise((done, fail) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(limits.controlSeconds * 1000, () => socket.destroy(new Error('control socket timed out')));
    socket.on('error', fail);
    const cut = () => fail(new Error('the control socket ended before a whole line came'));
    socket.on('end', cut);
    socket.on('close', cut);
    socket.on('data', (part: string) => {
      text += part;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        if (!takes(line)) {
          done(line);
          return;
        }
      }
      if (text.length > limits.controlRequestBytesMax) socket.destroy(new Error('control line too long'));
    });
  });
}
