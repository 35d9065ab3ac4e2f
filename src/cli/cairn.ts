#!/usr/bin/env node
/**
 * The cairn command. The version and the list of commands come from what the build wrote: they are asked for most often
 * and need no module. Everything else is loaded by run.ts; the build packs it with the commands for users into one folder,
 * because a file costs more to load than what is in it.
 */
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { compileCacheFolder } from '../client/settings.ts';
import { version } from '../common/version.ts';
import { print } from './output.ts';
import { endWithOutput, useUmaskOfService } from './process.ts';

/** What the build packed: the first words of its commands, a line each, and run.ts with them. */
const PACKED_WORDS = new URL('../command/words.txt', import.meta.url);
const PACKED = new URL('../command/typed.js', import.meta.url);

const OVERVIEW = new URL('overview.txt', import.meta.url);
const [first, ...rest] = process.argv.slice(2);

if (rest.length === 0 && ['--version', '-v', '-V', 'version'].includes(first ?? '')) {
  endWithOutput();
  print(version);
} else if (rest.length === 0 && [undefined, '--help', '-h', 'help'].includes(first) && existsSync(OVERVIEW)) {
  endWithOutput();
  print(readFileSync(OVERVIEW, 'utf8').trimEnd());
} else {
  // The data folder contains keys, and the cache is trusted code: new files are private.
  useUmaskOfService();
  // Node.js 22 and later keep compiled modules. The service runs for long, so it gains nothing.
  const { enableCompileCache } = module as { readonly enableCompileCache?: (folder: string) => unknown };
  if (first !== 'serve') enableCompileCache?.(compileCacheFolder());
  const isPacked =
    existsSync(PACKED_WORDS) &&
    readFileSync(PACKED_WORDS, 'utf8')
      .split('\n')
      .includes(first ?? '');
  const { runTyped } = isPacked
    ? ((await import(PACKED.href)) as typeof import('./typed.ts'))
    : await import('./typed.ts');
  await runTyped(process.argv.slice(2));
}
