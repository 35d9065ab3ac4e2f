/** Writes something beside its place first, so that what has the name is complete. */
import { rmSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `fill` with a path beside `place`, for what is not complete yet; `fill` gives it its name. When `fill` throws or the process
 * is interrupted, nothing is left there.
 */
export async function besideItsPlace<T>(place: string, fill: (staging: string) => Promise<T>): Promise<T> {
  const staging = `${place}.partial-${crypto.randomUUID().slice(0, 8)}`;
  const remove = () => rmSync(staging, { recursive: true, force: true, maxRetries: 3 });
  const interrupted = (signal: NodeJS.Signals) => {
    remove();
    process.removeListener(signal, interrupted);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    return await fill(staging);
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, interrupted);
    remove();
  }
}
