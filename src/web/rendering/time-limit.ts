/** Owns how long rendering may take: a text can be written so that a regular expression needs hours for it. */
import { createContext, Script } from 'node:vm';
import { limits } from '../../limits/service.ts';

const script = new Script('run()');
const context: { run?: () => unknown } = createContext({});

/**
 * What a function returns; undefined: it took too long and was cut off, which `node:vm` does within a regular expression too,
 * or the text is nested so deep that the stack ended.
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
