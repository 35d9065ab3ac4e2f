/** Asks a person at the terminal: for a secret, which may also be piped in, or for a confirmation. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './usage-error.ts';

/**
 * Reads a secret: typed without echo, or the first line of standard input. Prompts on standard error, since standard output is
 * for the result. Throws UsageError when the input is empty.
 */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const isTyped = stdin.isTTY;
  if (isTyped) stderr.write(`${question}: `);
  // The line reader echoes the input, so its output is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: isTyped });
  try {
    for await (const line of lines) {
      if (isTyped) stderr.write('\n');
      if (line === '') break;
      return line;
    }
  } finally {
    lines.close();
  }
  throw new UsageError('password is missing; type it, or pipe it in');
}

/** Asks only a person at a terminal. Resolves with the answer; undefined for a script, which passes an option instead. */
export async function askPerson(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}
