/** Owns the log: one JSON object per line on standard output, written in batches, flushed on exit. */
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** How much is gathered before a write, and how long a line waits at the most. */
const BATCH_BYTES = 4096;
const FLUSH_MS = 200;

export interface LogSink {
  readonly log: Log;
  /** Writes what is still gathered. Call before the process ends. */
  readonly flush: () => void;
}

/** Opens the log at a pino level (`trace` … `fatal`, `silent`). */
export function openLog(level: string): LogSink {
  const destination = pino.destination({ fd: 1, sync: false, minLength: BATCH_BYTES });
  // A reader that closed its end of the pipe must not stop the service.
  destination.on('error', () => undefined);
  const timer = setInterval(() => destination.flush(() => undefined), FLUSH_MS);
  timer.unref();
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination as DestinationStream);
  return {
    log,
    flush() {
      clearInterval(timer);
      try {
        destination.flushSync();
      } catch {
        // The stream is not open yet, or its reader is gone: there is nobody left to tell.
      }
    },
  };
}
