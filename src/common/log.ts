/**
 * Opens the logs: one JSON object, or on a terminal one readable text, per line; written in batches, flushed on exit.
 */
import { type Logger, pino, stdSerializers } from 'pino';
import { textLine, withModules } from './log/log-text.ts';
import { LogWriter } from './log/log-writer.ts';
import { StartError } from './start-error.ts';

export type Log = Logger;

export interface LogSink {
  /** Writes to standard output. */
  readonly log: Log;
  /** Receives the request lines, in a file; undefined when they go to `log`. */
  readonly access: Log | undefined;
  /** Lines that could not be written: nobody reads them, the reader is too slow, or the disk is full. */
  readonly dropped: () => number;
  /** Writes the buffered lines, as far as a reader accepts them. Call before the process ends. */
  readonly flush: () => void;
  /** Reopens the access log after a rotation has renamed it. Throws as `open` does. */
  readonly reopen: () => void;
}

export interface LogOptions {
  readonly accessFile?: string | undefined;
  /** Format of the log; the access log is always JSON. Default: JSON. */
  readonly format?: 'json' | 'text';
}

/**
 * Opens the log at a pino level (`trace` … `fatal`, `silent`), and the access log, with all lines, in a file. Throws
 * StartError.
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
    reopen: () => accessFile !== undefined && access?.reopen(accessFile),
  };
}

function logTo(writer: { write(line: string): void }, level: string): Log {
  return pino({ level, base: null, timestamp: timeMember, serializers: { err: errorMember } }, writer);
}

/** An error as pino writes it; its trace names modules. What else was thrown stays as it is. */
function errorMember(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const shown = stdSerializers.err(error);
  return { ...shown, stack: withModules(shown.stack) };
}

let lastMs = Number.NaN;
let lastMember = '';

/** The member `time` of a line, in ISO 8601. Under load many lines have the same millisecond. */
function timeMember(): string {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastMember = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return lastMember;
}

function openFile(path: string): LogWriter {
  try {
    return LogWriter.toFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`CAIRN_ACCESS_LOG: ${path} cannot be opened (${code}); name a file in a folder that exists.`);
  }
}
