/** Owns the logs: one JSON object or, on a terminal, one readable text per line, written in batches, flushed on exit. */
import { type Logger, pino } from 'pino';
import { textLine } from './log-text.ts';
import { LogWriter } from './log-writer.ts';
import { StartError } from './start-error.ts';

export type Log = Logger;

export interface LogSink {
  /** Goes to standard output. */
  readonly log: Log;
  /** Takes the lines of requests, into a file; undefined: they go to `log`. */
  readonly access: Log | undefined;
  /** Lines that could not be written, because nobody reads them, not fast enough, or the disk is full. */
  readonly dropped: () => number;
  /** Writes what is still gathered, as far as a reader takes it. Call before the process ends. */
  readonly flush: () => void;
  /** Opens the access log anew, for a rotation that has renamed it. Throws as `open` does. */
  readonly reopen: () => void;
  /** Takes a finished line of another thread, for the log or the access log. */
  readonly write: (line: string, log: 'log' | 'access') => void;
}

export interface LogOptions {
  readonly accessFile?: string | undefined;
  /** Of the log; the access log is JSON. Default: JSON. */
  readonly format?: 'json' | 'text';
}

/**
 * Opens the log at a pino level (`trace` … `fatal`, `silent`), and the access log, which takes everything, in a file.
 * Throws StartError.
 */
export function openLog(level: string, { accessFile, format = 'json' }: LogOptions = {}): LogSink {
  const writer = new LogWriter(1);
  const access = accessFile === undefined ? undefined : openFile(accessFile);
  const writers = access === undefined ? [writer] : [writer, access];
  const lines = format === 'json' ? writer : { write: (line: string) => writer.write(textLine(line)) };
  return {
    log: logTo(lines, level),
    access: access && logTo(access, 'info'),
    dropped: () => writers.reduce((sum, { dropped }) => sum + dropped, 0),
    flush() {
      for (const one of writers) one.end();
    },
    write: (line, to) => (to === 'log' ? lines : (access ?? lines)).write(line),
    reopen: () => accessFile !== undefined && access?.reopen(accessFile),
  };
}

/** A log of lines that `writer` takes; in a thread that gives them to another one. */
export function logTo(writer: { write(line: string): void }, level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, writer);
}

function openFile(path: string): LogWriter {
  try {
    return LogWriter.toFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`CAIRN_ACCESS_LOG: ${path} cannot be opened (${code}); name a file in a folder that exists.`);
  }
}
