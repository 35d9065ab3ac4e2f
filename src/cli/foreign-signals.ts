/** Keeps signals that mean something to Node.js, but nothing to Cairn, from acting on a process that holds keys. */

/**
 * Without a listener SIGUSR1 would let every user of this machine debug the process (Node.js), and SIGUSR2 would end it.
 * `onSignal` is called with the name of the signal that is ignored.
 */
export function ignoreForeignSignals(onSignal: (signal: string) => void = () => undefined): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => onSignal(signal));
}
