/** Reads a secret from whoever calls a command: typed without being shown, or the first line of what is piped in. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './usage-error.ts';

/** Asks on standard error, so that standard output stays the command's own. Throws UsageError when there is nothing. */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const isTyped = stdin.isTTY;
  if (isTyped) stderr.write(`${question}: `);
  // What is typed is echoed by the reader, so it gets nowhere to echo to.
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
