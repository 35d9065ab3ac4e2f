/** Prints the list of commands, which the build keeps as a file for `cairn --help`; with `words`, the first words of the commands that it packs. */
import { loadGroups, userWords } from './commands.ts';
import { overview } from './help.ts';

process.stdout.write(process.argv[2] === 'words' ? userWords.join(' ') : overview(await loadGroups()));
