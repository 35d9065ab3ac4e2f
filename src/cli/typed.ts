/** Runs what was typed, with all commands. */
import { findCommand, loadGroups } from './commands.ts';
import { runCommand } from './run.ts';

/** Runs what was typed after `cairn`, and sets the exit code. */
export async function runTyped(argv: readonly string[]): Promise<void> {
  await runCommand(argv, { loadGroups, findCommand });
}
