#!/usr/bin/env node
/**
 * The cairn command. The version and the list of commands come from what the build wrote: they are asked for most often
 * and need no module. The build packs this file and the commands for users into few files; those for operators are loaded
 * as they are, with the service.
 */
import { existsSync, readFileSync } from 'node:fs';
import { versionText } from '../common/version.ts';
import { useCompileCache } from './compile-cache.ts';
import { commandWord } from './meant.ts';
import { print } from './output.ts';
import { compileLess, endWithOutput, useUmaskOfService } from './process.ts';
import { findAmong, userGroup } from './user-commands.ts';

const OVERVIEW = new URL('overview.txt', import.meta.url);
const [first, ...rest] = process.argv.slice(2);

if (rest.length === 0 && ['--version', '-v', '-V', 'version'].includes(first ?? '')) {
  endWithOutput();
  print(versionText);
} else if (rest.length === 0 && [undefined, '--help', '-h', 'help'].includes(first) && existsSync(OVERVIEW)) {
  endWithOutput();
  print(readFileSync(OVERVIEW, 'utf8').trimEnd());
} else {
  // The data folder contains keys, and the cache is trusted code: new files are private.
  useUmaskOfService();
  useCompileCache();
  const isUsers = (word = '') => userGroup.sources.some((source) => source.word === commandWord(word));
  const findUsers = (argv: readonly string[]) => findAmong([userGroup], argv);
  const isAsked = first === '__complete';
  if (!isUsers(isAsked ? rest[0] : first)) {
    const { runEvery, suggestEvery } = await import('./every-command.ts');
    await (isAsked ? suggestEvery(rest) : runEvery(process.argv.slice(2)));
  } else if (isAsked) {
    const { suggest } = await import('./suggest/suggest.ts');
    await suggest(rest, findUsers);
  } else {
    compileLess();
    const { runCommand } = await import('./run.ts');
    // What was probably meant may be any command.
    const loadGroups = async () => (await import('./commands.ts')).loadGroups();
    await runCommand(process.argv.slice(2), { loadGroups, findCommand: findUsers });
  }
}
