/** Limits the time of rendering: a crafted text can make a regular expression run for hours. */
import { createContext, Script } from 'node:vm';
import { limits } from '../../limits/service.ts';

const script = new Script('run()');
const context: { run?: () => unknown } = createContext({});

/**
 * Returns the result of a function; undefined when it took too long, or when the text is nested so deeply that the
 * stack overflowed. `node:vm` can interrupt even a running regular expression.
 */
export function withinTime<T>(run: () => T, timeout: number = limits.renderMsMax): T | undefined {
  try {
    context.run = run;
    return script.runInContext(context, { timeout }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    if (error instanceof RangeError && error.message.includes('call stack')) return undefined;
    throw error;
  }
}
