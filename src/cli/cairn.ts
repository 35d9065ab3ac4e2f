#!/usr/bin/env node
/**
 * The cairn command. The version and the list of commands come from what the build wrote: they are asked for most often
 * and need no module. Everything else is loaded by run.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { compileCacheFolder } from '../client/settings.ts';
import { version } from '../common/version.ts';
import { commandWord } from './meant.ts';
import { print } from './output.ts';
import { endWithOutput, useUmaskOfService, useUmaskOfUser } from './process.ts';

const OVERVIEW = new URL('overview.txt', import.meta.url);
/** What single-file.ts is built into. */
const BACKUPS = new URL('../web/client/cairn.mjs', import.meta.url);
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
  if (first === '__complete') {
    const [{ suggest }, { findCommand }] = await Promise.all([import('./suggest/suggest.ts'), import('./commands.ts')]);
    await suggest(rest, findCommand);
  }
  // Backups run from jobs and timers, often; the one file that hubs serve starts in half the time of its modules.
  if (commandWord(first ?? '') === 'backups' && existsSync(BACKUPS)) {
    // It remembers the umask that it finds, for restored files, and then makes its own files private too.
    useUmaskOfUser();
    await import(BACKUPS.href);
  } else {
    const [{ runCommand }, { loadGroups, findCommand }] = await Promise.all([
      import('./run.ts'),
      import('./commands.ts'),
    ]);
    await runCommand(process.argv.slice(2), { loadGroups, findCommand });
  }
}
