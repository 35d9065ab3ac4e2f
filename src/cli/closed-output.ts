/** Owns what a command does when nobody reads its output any more, as behind `| head`: it ends, without a word. */

/** What a shell shows of a program that ended by SIGPIPE (128 + 13), which Node.js does not let happen. */
const EXIT_CLOSED_OUTPUT = 141;

/** From here on the process ends when its output is closed. */
export function endWithOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(EXIT_CLOSED_OUTPUT);
    });
  }
}
