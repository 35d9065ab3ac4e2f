/** Starts and ends the child programs of `fair.ts`. */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { ask, type Questions } from './probe.ts';

export const LEAST_PRIORITY = 19;

export interface Running {
  readonly pid: number;
  /** The answers since the last report. */
  report(): Promise<LoadReport>;
  end(): Promise<void>;
}

export const childOf = (file: string, args: readonly string[] = []): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args);

export async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolved) => child.once('exit', resolved));
  child.kill('SIGKILL');
  await gone;
}

/** Resolves with the next message of a child. Rejects when it ends before. */
function messageOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolved, reject) => {
    const gone = (code: number | null) => reject(new Error(`a child program ended with ${code}`));
    child.once('exit', gone);
    child.once('message', (message) => {
      child.off('exit', gone);
      resolved(message as T);
    });
  });
}

/** Starts a load in a process of its own, at the least priority. */
export async function startLoad(order: LoadOrder): Promise<Running> {
  const child = childOf('./load-process.js');
  setPriority(child.pid ?? 0, LEAST_PRIORITY);
  child.send(order);
  await messageOf(child);
  return {
    pid: child.pid ?? 0,
    report() {
      child.send('report');
      return messageOf<LoadReport>(child);
    },
    end: () => ended(child),
  };
}

/** The bytes that a hub answered with, one file for each name. */
export class Recorded {
  readonly folder = temporaryFolder();

  /** The file of the first answer to a load. */
  get ofLoad(): string {
    return join(this.folder, FLOOR_LOAD);
  }

  async questions(url: string, questions: Questions): Promise<void> {
    for (const [name, asked] of Object.entries(questions)) {
      const parts: Buffer[] = [];
      await ask(url, asked, (part) => parts.push(part));
      writeFileSync(join(this.folder, fileOf(name)), Buffer.concat(parts));
    }
  }
}

/** Names the answer that a request to the floor wants. */
export const FLOOR_HEADER = 'X-Floor';
export const FLOOR_LOAD = 'load';
/** The file of a named answer. */
const fileOf = (name: string) => name.replaceAll(/\W/g, '-');

export const atFloor = (questions: Questions): Questions =>
  Object.fromEntries(
    Object.entries(questions).map(([name, asked]) => [
      name,
      { ...asked, headers: { ...asked.headers, [FLOOR_HEADER]: fileOf(name) } },
    ]),
  );

export interface Floor {
  readonly url: string;
  readonly pid: number;
  end(): Promise<void>;
}

/** Starts the HTTP library with nothing behind it. */
export async function startFloor(folder: string): Promise<Floor> {
  const child = childOf('./floor-process.js', [folder]);
  const port = await messageOf<number>(child);
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, end: () => ended(child) };
}
