/** Reads from a trace of system calls what was written to one file, when it was flushed, and which answers went out between. */
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The calls that a trace must hold, with whole strings in hex (`-xx -s`). */
export const DISK_CALLS =
  'exit_group,openat,close,lseek,write,writev,pwrite64,pwritev,pwritev2,fdatasync,fsync,msync,ftruncate,fallocate,copy_file_range,sendto';

/** Moments are line numbers of the trace. */
export interface DiskWrite {
  readonly offset: number;
  readonly bytes: Buffer;
  /** Through a descriptor whose writes are flushed when they return. */
  readonly isSynchronous: boolean;
  readonly begun: number;
  ended: number;
}

interface DiskFlush {
  readonly begun: number;
  ended: number;
}

export interface DiskTrace {
  readonly writes: DiskWrite[];
  readonly flushes: DiskFlush[];
  /** When the answer of a request began to leave, by its X-Request-Id; only 200s. */
  readonly answers: Map<string, number>;
}

/** An open descriptor of the file. */
interface Descriptor {
  readonly isSynchronous: boolean;
  /** Where `write` would put its bytes. */
  position: number;
}

/** The head of an answer that a socket has sent so far, and when that began. */
interface Head {
  readonly begun: number;
  readonly text: string;
}

/** What is to be noted when a call returns. */
type Done = (ended: number, result: number) => void;

/** A call that a thread is in. */
interface Open {
  readonly text: string;
  readonly done: Done | undefined;
}

/**
 * Whether the trace holds the end of the process that it began with; the tracer writes that last, and some time after the
 * process is gone. Processes that it started end before.
 */
export function isComplete(path: string): boolean {
  const trace = readFileSync(path);
  const [first] = /^\d+ +/.exec(trace.subarray(0, 16).toString('latin1')) ?? [];
  return first !== undefined && trace.includes(`\n${first}exit_group(`);
}

/** Throws when the file was touched in a way that this does not know, or when a call on it failed. */
export async function readDiskTrace(path: string, fileName: string): Promise<DiskTrace> {
  const trace: DiskTrace = { writes: [], flushes: [], answers: new Map() };
  const files = new Map<number, Descriptor>();
  const open = new Map<string, Open>();
  const heads = new Map<string, Head>();
  const hexName = Buffer.from(`/${fileName}`).toString('hex');
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path) })) {
    line += 1;
    const thread = text.slice(0, text.indexOf(' '));
    const call = text.slice(thread.length).trimStart();
    if (call.startsWith('<...')) {
      const begun = open.get(thread);
      open.delete(thread);
      begun?.done?.(line, resultOf(call));
      noteOpened(files, begun?.text ?? '', call, hexName);
      continue;
    }
    if (call.startsWith('sendto(')) noteAnswer(trace, heads, call, line);
    const done = begin(trace, files, call, line);
    if (call.endsWith('<unfinished ...>')) open.set(thread, { text: call, done });
    else {
      done?.(line, resultOf(call));
      noteOpened(files, call, call, hexName);
    }
  }
  return trace;
}

/** Learns the descriptors of the file from what `openat` was asked and gave. */
function noteOpened(files: Map<number, Descriptor>, asked: string, answered: string, hexName: string): void {
  if (!asked.startsWith('openat(')) return;
  const descriptor = Number(/= (\d+)/.exec(answered)?.[1] ?? Number.NaN);
  if (Number.isNaN(descriptor)) return;
  if (hexOf(/"((?:\\x[0-9a-f]{2})*)"/.exec(asked)?.[1] ?? '').endsWith(hexName)) {
    files.set(descriptor, { isSynchronous: asked.includes('O_DSYNC'), position: 0 });
  } else files.delete(descriptor);
}

function resultOf(returned: string): number {
  return Number(/\) += (-?\d+)(?: |$)/.exec(returned.slice(-200))?.[1] ?? Number.NaN);
}

/** Notes what a call does, and gives what is to be noted when it returns. */
function begin(trace: DiskTrace, files: Map<number, Descriptor>, call: string, line: number): Done | undefined {
  const descriptor = Number(/^\w+\((\d+)/.exec(call)?.[1] ?? Number.NaN);
  const file = files.get(descriptor);
  if (file === undefined) return undefined;
  if (call.startsWith('close(')) {
    files.delete(descriptor);
    return undefined;
  }
  if (call.startsWith('lseek(')) {
    const [, position] = /^lseek\(\d+, (\d+), SEEK_SET/.exec(call) ?? [];
    if (position === undefined) throw new Error(`the data file was touched by ${call.slice(0, 60)}`);
    file.position = Number(position);
    return undefined;
  }
  if (/^(pwrite64|write|writev)\(/.test(call)) {
    const { isSynchronous } = file;
    const bytes = bytesOf(call);
    const offset = call.startsWith('pwrite64(')
      ? Number(/", \d+, (\d+)[ )]/.exec(call.slice(-80))?.[1])
      : file.position;
    if (!call.startsWith('pwrite64(')) file.position += bytes.length;
    const write = { offset, bytes, isSynchronous, begun: line, ended: Number.POSITIVE_INFINITY };
    trace.writes.push(write);
    return (ended, result) => {
      if (result !== bytes.length) throw new Error(`of ${bytes.length} bytes ${result} were written`);
      write.ended = ended;
    };
  }
  if (/^f(data)?sync\(/.test(call)) {
    const flush = { begun: line, ended: Number.POSITIVE_INFINITY };
    trace.flushes.push(flush);
    return (ended, result) => {
      if (result !== 0) throw new Error('a flush failed');
      flush.ended = ended;
    };
  }
  throw new Error(`the data file was touched by ${call.slice(0, 60)}`);
}

/** What one call writes: the one string of `write`, or those of `writev` one after another. */
function bytesOf(call: string): Buffer {
  const parts: Buffer[] = [];
  for (let from = call.indexOf('"'); from >= 0; ) {
    const to = call.indexOf('"', from + 1);
    const bytes = Buffer.from(hexOf(call.slice(from + 1, to)), 'hex');
    const length = Number(/^", (?:iov_len=)?(\d+)/.exec(call.slice(to, to + 40))?.[1]);
    if (bytes.length !== length) throw new Error('a write is not in the trace as a whole');
    parts.push(bytes);
    from = call.indexOf('"', to + 1);
  }
  return Buffer.concat(parts);
}

/** Notes an answer when the end of its id is seen. Its head may leave in one call, or each of its words in a call. */
function noteAnswer(trace: DiskTrace, heads: Map<string, Head>, call: string, line: number): void {
  const socket = call.slice('sendto('.length, call.indexOf(','));
  const from = call.indexOf('"') + 1;
  const part = Buffer.from(hexOf(call.slice(from, Math.min(call.indexOf('"', from), from + 4000))), 'hex').toString(
    'latin1',
  );
  const before = heads.get(socket);
  const head = part.startsWith('HTTP/1.1 ')
    ? { begun: line, text: part }
    : before && { ...before, text: before.text + part };
  if (head === undefined) return;
  const id = /^HTTP\/1\.1 200 .*?\r\nX-Request-Id: ([^\r]+)\r\n/s.exec(head.text)?.[1];
  if (id !== undefined) trace.answers.set(id, head.begun);
  if (id !== undefined || head.text.includes('\r\n\r\n')) heads.delete(socket);
  else heads.set(socket, head);
}

function hexOf(escaped: string): string {
  return escaped.replaceAll('\\x', '');
}
