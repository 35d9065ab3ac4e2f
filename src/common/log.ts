/** Owns the log: one JSON object per line on standard output, written in batches, flushed on exit. */
import { type Logger, pino } from 'pino';
import { LogWriter } from './log-writer.ts';

export type Log = Logger;

export interface LogSink {
  readonly log: Log;
  /** Lines that could not be written, because nobody reads them or not fast enough. */
  readonly dropped: () => number;
  /** Writes what is still gathered, as far as a reader takes it. Call before the process ends. */
  readonly flush: () => void;
}

/** Opens the log at a pino level (`trace` … `fatal`, `silent`). */
export function openLog(level: string): LogSink {
  const writer = new LogWriter(1);
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, writer);
  return { log, dropped: () => writer.dropped, flush: () => writer.end() };
}
