/** Reads a secret: typed without echo, or the first line of standard input. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './usage-error.ts';

/** Prompts on standard error, since standard output is for the result. Throws UsageError when the input is empty. */
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
