/** Node.js 22 and later keep compiled modules in a folder, so that the next start compiles none: a sixth of the start of a hub. */
import module from 'node:module';
import { compileCacheFolder } from '../client/settings.ts';

interface Cache {
  readonly enableCompileCache?: (folder: string) => unknown;
  readonly flushCompileCache?: () => void;
}
const cache = module as Cache;

/** Keeps what is compiled from now on. Without effect where the folder cannot be made. */
export function useCompileCache(): void {
  cache.enableCompileCache?.(compileCacheFolder());
}

/** Writes what was compiled so far, for a process that may be killed: otherwise that is written at its end. */
export function writeCompileCache(): void {
  cache.flushCompileCache?.();
}
