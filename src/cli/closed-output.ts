/** Ends a command silently when its output is closed, as in `cairn … | head`. */
import { endProcess } from '../common/end-process.ts';

/** Exit code that a shell reports for a program ended by SIGPIPE (128 + 13). Node.js ignores that signal. */
const EXIT_CLOSED_OUTPUT = 141;

/** Makes the process exit when its output is closed. */
export function endWithOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      endProcess(EXIT_CLOSED_OUTPUT);
    });
  }
}
