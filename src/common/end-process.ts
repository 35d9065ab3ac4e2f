/** Ends this process at once, whatever its threads do. */

let writesData = false;

/** Must be called before this process writes to a data file; see `endProcess`. */
export function noteDataWriter(): void {
  writesData = true;
}

/**
 * Ends this process now. Flush the log first. A process that writes to a data file ends by SIGKILL: `process.exit` joins
 * the threads of libuv, and the store's writer in one of them may be waiting for the main thread, which then waits for
 * ever. The data file needs no farewell. Service managers restart after SIGKILL as after an exit code. Any other process
 * exits with `code`.
 */
export function endProcess(code: number): never {
  if (writesData) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
