/** Prints the list of commands: the build keeps it as a file for `cairn --help`. */
import { loadGroups } from './commands.ts';
import { overview } from './help.ts';

process.stdout.write(overview(await loadGroups()));
