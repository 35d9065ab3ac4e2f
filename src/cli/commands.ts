/** Every command, in the order in which the help lists them. */
import { accountCommands } from './account.ts';
import { backupCommands } from './backup.ts';
import { callCommand } from './call.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { deviceCommands } from './device.ts';
import { identityCommands } from './identity.ts';
import { keyCommands } from './key.ts';
import { loginCommand, logoutCommand } from './login.ts';
import { mirrorCommands } from './mirror.ts';
import { serveCommand } from './serve.ts';
import { statsCommand } from './stats.ts';
import { taskCommands } from './tasks.ts';
import { tokenCommands } from './token.ts';
import { verifyCommand } from './verify.ts';
import { whoamiCommand } from './whoami.ts';

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

export const commandGroups: readonly CommandGroup[] = [
  {
    title: 'Speak to a hub, from any machine',
    commands: [loginCommand, logoutCommand, whoamiCommand, ...mirrorCommands, ...taskCommands, callCommand],
  },
  {
    title: 'Run a hub, where its data folder is',
    commands: [serveCommand, verifyCommand, statsCommand, ...backupCommands],
  },
  {
    title: 'Accounts of a hub, where its data folder is',
    commands: [...accountCommands, ...keyCommands, ...tokenCommands, ...deviceCommands, ...identityCommands],
  },
  { title: 'This shell', commands: [completionCommand(() => allCommands())] },
];

export function allCommands(): readonly Command[] {
  return commandGroups.flatMap(({ commands }) => commands);
}

/** The command that the first words name, the longest name first, and what follows them; undefined: none. */
export function findCommand(
  argv: readonly string[],
): { readonly command: Command; readonly rest: string[] } | undefined {
  for (const length of [2, 1]) {
    const name = argv.slice(0, length).join(' ');
    const command = allCommands().find((candidate) => candidate.name === name);
    if (command !== undefined) return { command, rest: argv.slice(length) };
  }
  return undefined;
}
