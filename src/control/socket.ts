/**
 * Serves the control socket in the data folder. The socket is the lock: the process bound to it owns the folder, and
 * the kernel releases it however the process ends. It is also the entry point of the command line, protected by the
 * permissions of the folder.
 */
import { chmodSync, closeSync, mkdirSync, openSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../common/start-error.ts';
import { systemReason } from '../common/system-reason.ts';
import { limits } from '../limits/service.ts';

const SOCKET_FILE = 'control.sock';
const TAKEOVER_FOLDER = 'control.takeover';
/** A takeover takes less than a second. An older mark was left by a killed process. */
const TAKEOVER_MS_MAX = 10_000;
/** A socket that is bound but does not listen yet looks like that of a dead process: it is asked again after this. */
const SECOND_LOOK_MS = 100;

/** A listening socket and its connections. */
interface Bound {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
}

/** Caller of a command that may take long. */
export interface ControlCaller {
  /** Sends a line before the answer. */
  readonly tell: (line: string) => void;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Answers one line. Must not throw. */
export type ControlHandler = (line: string, caller: ControlCaller) => Promise<string>;

export class ControlSocket {
  readonly #bound: Bound;
  readonly #folderDescriptor: number;

  private constructor(bound: Bound, folderDescriptor: number) {
    this.#bound = bound;
    this.#folderDescriptor = folderDescriptor;
  }

  /** Acquires the data folder. Throws StartError when another process owns it. */
  static async acquire(folder: string, handler: ControlHandler): Promise<ControlSocket> {
    const descriptor = openSync(folder, 'r');
    const path = socketPath(folder, descriptor);
    try {
      const bound = (await bind(path, handler)) ?? (await takeOver(folder, path, handler));
      chmodSync(join(folder, SOCKET_FILE), 0o600);
      return new ControlSocket(bound, descriptor);
    } catch (error) {
      closeSync(descriptor);
      if (error instanceof StartError) throw error;
      throw new StartError(`${folder} cannot be written to: ${systemReason(error)}`);
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
 * Sends one line to the process that owns the folder and returns its answer. Undefined when no process owns it. `takes`
 * receives each line and returns true if it precedes the answer. `signal`: nobody waits any more; the other process
 * aborts the work.
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
    // The folder is missing or not readable. The caller finds out which when it opens the store.
    return undefined;
  }
  try {
    const socket = await dial(socketPath(folder, descriptor));
    if (socket === undefined) return undefined;
    signal?.addEventListener('abort', () => socket.destroy(new StartError('the command was cancelled.')));
    socket.end(`${line}\n`);
    return await readLine(socket, limits.controlAnswerBytesMax, takes).catch(refuseUnanswered);
  } finally {
    closeSync(descriptor);
  }
}

/** Says that the command may have been done. Throws StartError. */
function refuseUnanswered(error: unknown): never {
  if (error instanceof StartError) throw error;
  throw new StartError(
    `the hub on this data folder did not answer: ${(error as Error).message}. Look at its log and whether it runs, then run the command again; what it was asked to do may have been done.`,
  );
}

/** A socket path has at most about 100 bytes. The path through the open folder on Linux is always short. */
function socketPath(folder: string, descriptor: number): string {
  return process.platform === 'linux'
    ? `/proc/self/fd/${descriptor}/${SOCKET_FILE}`
    : join(resolve(folder), SOCKET_FILE);
}

/** Returns the bound server. Undefined when the path is in use, by a running process or left by a dead one. */
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

/** Called when the path is in use. If no process answers on it, exactly one process may remove it and bind again. */
async function takeOver(folder: string, path: string, handler: ControlHandler): Promise<Bound> {
  await refuseIfAlive(path);
  const mark = join(folder, TAKEOVER_FOLDER);
  await markTakeover(mark, path);
  try {
    await sleep(SECOND_LOOK_MS);
    await refuseIfAlive(path);
    rmSync(join(folder, SOCKET_FILE), { force: true });
    const bound = await bind(path, handler);
    if (bound === undefined) throw taken();
    return bound;
  } finally {
    rmdirSync(mark);
  }
}

/**
 * Makes the mark. Waits while another process has one: that process answers soon, or it was killed and its mark is
 * replaced when it is old enough. Throws FolderTaken when another process has the folder.
 */
async function markTakeover(mark: string, path: string): Promise<void> {
  // A clock that was set back makes a mark look young for longer, so the looks are counted.
  for (let looks = 0; looks * SECOND_LOOK_MS <= 2 * TAKEOVER_MS_MAX; looks += 1) {
    if (tryMark(mark)) return;
    await sleep(SECOND_LOOK_MS);
    await refuseIfAlive(path);
  }
  throw taken();
}

/** Returns false while the mark is another process's. Of several that find an old mark, one at most replaces it. */
function tryMark(mark: string): boolean {
  try {
    if (isLeft(mark)) {
      const removed = `${mark}.${process.pid}`;
      renameSync(mark, removed);
      // Another process can have replaced the mark after the look at it: then this one was not left.
      if (!isLeft(removed)) {
        renameSync(removed, mark);
        return false;
      }
      rmdirSync(removed);
    }
    mkdirSync(mark);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process makes, has made or removes the mark at this moment.
    if (code === 'EEXIST' || code === 'ENOENT' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

function isLeft(mark: string): boolean {
  const found = statSync(mark, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs >= TAKEOVER_MS_MAX;
}

async function refuseIfAlive(path: string): Promise<void> {
  const socket = await dial(path);
  if (socket === undefined) return;
  socket.destroy();
  throw taken();
}

/** Another process has the folder. */
export class FolderTaken extends StartError {}

function taken(): StartError {
  return new FolderTaken(
    'another cairn process has this data folder (CAIRN_DATA); stop it first, or choose another folder.',
  );
}

function notAllowed(): StartError {
  return new StartError(
    'a hub runs on this data folder, but this user may not control it; run the command as its user (sudo -u cairn …).',
  );
}

/** Returns a connection, or undefined when no process listens. Fails with StartError when this user may not connect. */
function dial(path: string): Promise<Socket | undefined> {
  return new Promise((done, fail) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('connect', () => done(socket));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT' || error.code === 'ENOTDIR') done(undefined);
      else fail(error.code === 'EACCES' ? notAllowed() : error);
    });
  });
}

async function serve(socket: Socket, handler: ControlHandler): Promise<void> {
  try {
    const line = await readLine(socket, limits.controlRequestBytesMax);
    const gone = new AbortController();
    socket.on('close', () => gone.abort());
    const tell = (text: string) => void socket.write(`${text}\n`);
    socket.end(`${await handler(line, { tell, signal: gone.signal })}\n`);
  } catch {
    // The peer disconnected or sent no line, so there is nobody to answer.
    socket.destroy();
  }
}

/** Reads the first line that `takes` does not consume, of at most about `charsMax` characters. */
function readLine(socket: Socket, charsMax: number, takes: (line: string) => boolean = () => false): Promise<string> {
  return new Promise((done, fail) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(limits.controlSeconds * 1000, () =>
      socket.destroy(new Error(`nothing came for ${limits.controlSeconds} s`)),
    );
    socket.on('error', fail);
    const cut = () => fail(new Error('it ended, or closed the connection'));
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
      if (text.length > charsMax) socket.destroy(new Error('control line too long'));
    });
  });
}
