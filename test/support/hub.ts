/** Starts the built service as a process of its own, and runs the built command beside it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { environmentWithoutSettings } from '../../src/config.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The built command, whether this file runs as it is or compiled, below `dist`. */
export const isCompiled = import.meta.url.includes('/dist/');
export const CAIRN = fileURLToPath(
  new URL(isCompiled ? '../../src/cli/cairn.js' : '../../dist/src/cli/cairn.js', import.meta.url),
);
/** Counted while this process runs: a clock goes on while a loop of hours is stopped (SIGSTOP). */
const START_SECONDS_MAX = 120;

export type LogLine = Record<string, unknown>;

export interface HubOptions {
  /** CAIRN_* settings; port 0 and a new folder unless given. */
  readonly env?: Record<string, string>;
  /** A folder of an earlier hub; it is then not removed at the end. */
  readonly dataFolder?: string;
  /** Runs before node, e.g. `['prlimit', '--nofile=64']`. */
  readonly wrapper?: readonly string[];
  /** Another build of the command than this one, for the hub and for what runs beside it. */
  readonly script?: string;
}

export interface Hub {
  readonly port: number;
  readonly url: string;
  readonly dataFolder: string;
  /** The data folder as this process reaches it, where the hub has mounts of its own. */
  readonly reachedFolder?: string;
  readonly process: ChildProcess;
  /** Every log line so far. */
  readonly logs: readonly LogLine[];
  /** What the process wrote to standard error so far. */
  stderr(): string;
  /** SIGTERM, then the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, and wait until it is gone. */
  kill(): Promise<void>;
  /** Runs `cairn …` with this hub's settings. */
  cli(...args: string[]): Promise<CommandResult>;
  /** Resolves with the first log line, past or future, that the test accepts. */
  waitForLog(accepts: (line: LogLine) => boolean): Promise<LogLine>;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment of this process without settings of a hub of the developer's own. */
export function cleanEnvironment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...environmentWithoutSettings(), ...env };
}

/** Starts a hub and resolves when it listens; rejects with what it wrote when it ends before that. */
export async function startHub(options: HubOptions = {}): Promise<Hub> {
  const dataFolder = options.dataFolder ?? temporaryFolder();
  // Limits are off unless a test is about them: a suite makes more calls a minute than a client, and a busy machine is late.
  const unlimited = {
    CAIRN_RATE_LIMIT: '0',
    CAIRN_SIGNIN_LIMIT: '0',
    CAIRN_LOOP_DELAY_MS: '0',
    CAIRN_SIGNUPS_PER_DAY: '0',
  };
  const env = cleanEnvironment({ CAIRN_PORT: '0', CAIRN_DATA: dataFolder, ...unlimited, ...options.env });
  const [command, ...args] = [...(options.wrapper ?? []), process.execPath, options.script ?? CAIRN, 'serve'];
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const logs: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  onJsonLines(child.stdout, (line) => {
    logs.push(line);
    for (const listener of listeners) listener(line);
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
  const waitForLog = (accepts: (line: LogLine) => boolean): Promise<LogLine> => {
    const past = logs.find(accepts);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      const listener = (line: LogLine) => {
        if (!accepts(line)) return;
        listeners.delete(listener);
        resolve(line);
      };
      listeners.add(listener);
    });
  };
  let timer: NodeJS.Timeout | undefined;
  const listening = await Promise.race([
    waitForLog((line) => line['msg'] === 'listening'),
    exited.then((code) => Promise.reject(new Error(`the hub ended with ${code}: ${said(stderr, logs)}`))),
    new Promise<never>((_, reject) => {
      let seconds = 0;
      timer = setInterval(() => {
        seconds += 1;
        if (seconds < START_SECONDS_MAX) return;
        child.kill('SIGKILL');
        reject(new Error(`the hub did not start: ${said(stderr, logs)}`));
      }, 1000);
    }),
  ]).finally(() => clearInterval(timer));
  const port = listening['port'] as number;
  const scheme = options.env?.['CAIRN_TLS_CERT'] === undefined ? 'http' : 'https';
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    dataFolder,
    process: child,
    logs,
    stderr: () => stderr,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    cli: (...cliArgs) => runCairn(cliArgs, { CAIRN_DATA: dataFolder, ...options.env }, '', [], options.script),
    waitForLog,
  };
}

/** The last words of a hub: a failed start is told on standard error, an unexpected error in the log. */
const said = (stderr: string, logs: readonly LogLine[]) => `${stderr}${JSON.stringify(logs.at(-1) ?? 'no log line')}`;

/** Reads a stream of JSON lines. The last one may be cut: a hub that was killed leaves it so. */
function onJsonLines(input: Readable, heard: (line: LogLine) => void): void {
  let cut: unknown;
  createInterface({ input }).on('line', (text) => {
    if (cut !== undefined) throw cut;
    try {
      heard(JSON.parse(text) as LogLine);
    } catch (error) {
      cut = error;
    }
  });
}

/** Runs the built command, pipes `input` in, and gives what it wrote and its exit code; never rejects for a refusal. */
export function runCairn(
  args: readonly string[],
  env: Record<string, string>,
  input: string = '',
  wrapper: readonly string[] = [],
  script: string = CAIRN,
): Promise<CommandResult> {
  const [command, ...before] = [...wrapper, process.execPath];
  return new Promise((resolve) => {
    const child = execFile(
      command ?? process.execPath,
      [...before, script, ...args],
      { env: cleanEnvironment(env) },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
      },
    );
    // A command that reads nothing may have ended before.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
