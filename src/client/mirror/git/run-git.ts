/** Runs git and other programs, with their output in memory or line by line. */
import { spawn } from 'node:child_process';
import { ClientError } from '../../client-error.ts';
import { environmentWith } from '../../settings.ts';
import { fullDiskOf } from '../full-disk.ts';

export interface ProgramOptions {
  readonly input?: string | Buffer;
  /** An open file that the program reads instead, from its position. */
  readonly inputFile?: number;
  /** Error message when the program fails. */
  readonly refusal: string;
  readonly exitCode?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are results, besides 0. */
  readonly accepts?: readonly number[];
}

export interface ProgramResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Longest kept error output of a program. */
const TOLD_CHARS_MAX = 64 * 1024;

/** The output of git as text, without the last line break. */
export async function gitText(folder: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { stdout } = await git(folder, args, options);
  return stdout.toString('utf8').replace(/\n$/, '');
}

/** Runs git in a folder. Throws ClientError with the first line of its error output when it fails, DiskFull when it found no room. */
export async function git(
  folder: string,
  args: readonly string[],
  { input, inputFile, refusal, exitCode, env, accepts = [] }: ProgramOptions,
): Promise<ProgramResult> {
  return await new Promise((resolve, reject) => {
    // Messages are compared with patterns, so they are in English; git never waits for a password.
    const own = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...env };
    const child = spawn('git', ['-C', folder, ...args], {
      stdio: [inputFile ?? 'pipe', 'pipe', 'pipe'],
      env: environmentWith(own),
    });
    const out: Buffer[] = [];
    let told = '';
    child.stdout?.on('data', (part: Buffer) => out.push(part));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      told = (told + text).slice(0, TOLD_CHARS_MAX);
    });
    // A program that exits early closes its input; its exit code shows the reason.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    child.once('error', () => reject(new ClientError('program not found: git. Install it, then try again.')));
    child.once('close', (code) => {
      if (code === 0 || (code !== null && accepts.includes(code))) {
        resolve({ code, stdout: Buffer.concat(out), stderr: told });
        return;
      }
      const [first = ''] = told.trim().split('\n');
      const failed = () => new ClientError(first === '' ? refusal : `${refusal} (${first.slice(0, 300)})`, exitCode);
      reject(fullDiskOf(told, folder) ?? failed());
    });
  });
}

/**
 * Calls `take` with each piece of a program's output, as it arrives. An error of `take` ends the program and is passed
 * on. Throws ClientError when the program fails.
 */
export async function eachLine(
  program: string,
  args: readonly string[],
  separator: string,
  take: (line: string) => void,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  });
  try {
    let rest = '';
    for await (const part of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest + part).split(separator);
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    }
    if (rest !== '') take(rest);
  } finally {
    child.kill();
  }
  if ((await closed) !== 0) throw new ClientError(`${program} ${args.join(' ')} failed.`);
}
