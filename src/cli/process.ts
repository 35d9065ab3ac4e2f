/** What this process does to be safe with keys, and quiet at the end of a pipe: umask, core dumps, signals, closed output. */
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { endProcess } from '../common/end-process.ts';

const ofUser = process.umask();

/** Makes new files and folders inaccessible to other users. */
export function useUmaskOfService(): void {
  process.umask(0o077);
}

/** Gives new files and folders the permissions of the user's own umask. */
export function useUmaskOfUser(): void {
  process.umask(ofUser);
}

/**
 * Compiles only what runs very often. V8 optimizes a function after some thousand runs, in threads of its own, for a program
 * that goes on for hours: a sixth of the processor time of a first sync of 10,000 files went there. Other
 * versions of Node.js than 20 name this otherwise, and have a quicker compiler in between.
 */
export function compileLess(): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=600000');
}

/** Returns what is aborted when one of these signals tells this process to end: by default also as its terminal closes. */
export function toldToEnd(signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']): AbortSignal {
  const ended = new AbortController();
  for (const signal of signals) process.once(signal, () => ended.abort());
  return ended.signal;
}

/** Kinds of memory in a core dump, as a bit mask (core(5)): none. */
const NO_MEMORY = '0';

/** A core dump of this process then contains registers only, wherever the machine writes it. Has an effect on Linux alone. */
export function keepMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', NO_MEMORY);
  } catch {
    // Another system, or a /proc that cannot be written: limits of core dumps apply (LimitCORE=0 in the unit).
  }
}

/**
 * Without a listener SIGUSR1 would let every user of this machine debug the process (Node.js), and SIGUSR2 would end it.
 * `onSignal` is called with the name of the signal that is ignored.
 */
export function ignoreForeignSignals(onSignal: (signal: string) => void = () => undefined): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => onSignal(signal));
}

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
