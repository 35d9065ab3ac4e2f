#!/usr/bin/env node
/**
 * The part of the command that a CI job or a new machine needs: backups, and signing in. The build makes one file of it
 * without dependencies, which every hub serves.
 */
import { version } from '../common/version.ts';
import { type Command, commandNamed } from './command.ts';
import { commandWord } from './meant.ts';
import { print } from './output.ts';
import { endWithOutput, useUmaskOfService } from './process.ts';
import { runCommand } from './run.ts';
import { loginCommand, logoutCommand } from './user/login.ts';
import { mirrorCommands } from './user/mirror/commands.ts';
import { whoamiCommand } from './user/whoami.ts';

const commands: readonly Command[] = [loginCommand, logoutCommand, whoamiCommand, ...mirrorCommands];

const argv = process.argv.slice(2);

endWithOutput();
useUmaskOfService();
if (argv.length === 1 && argv[0] === '--version') {
  print(version);
} else {
  await runCommand(argv, {
    loadGroups: async () => [{ title: 'Back up git repositories', commands }],
    findCommand: async ([first = '', ...rest]) => commandNamed(commands, [commandWord(first), ...rest]),
  });
}
