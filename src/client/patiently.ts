/** Repeats a tool call that a hub refuses because it is busy, or for its rate. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import { ToolRefused } from './tool-refused.ts';

/**
 * Repeats a call after the pauses that the hub names, at most for the time limit of a transfer. `onBusy` receives the seconds
 * of each pause. Throws what the call throws.
 */
export async function patiently<T>(call: () => Promise<T>, onBusy?: (seconds: number) => void): Promise<T> {
  const giveUpMs = Date.now() + limits.clientTransferSeconds * 1000;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const seconds = error instanceof ToolRefused ? error.waitSeconds : undefined;
      if (seconds === undefined || Date.now() + seconds * 1000 > giveUpMs) throw error;
      onBusy?.(seconds);
      await sleep(seconds * 1000);
    }
  }
}
