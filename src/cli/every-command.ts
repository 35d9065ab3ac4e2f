/** Runs, or completes, any command: those for operators load the service. */
import { findCommand, loadGroups } from './commands.ts';
import { runCommand } from './run.ts';
import { suggest } from './suggest/suggest.ts';

export async function runEvery(argv: readonly string[]): Promise<void> {
  await runCommand(argv, { loadGroups, findCommand });
}

export async function suggestEvery(words: readonly string[]): Promise<never> {
  return await suggest(words, findCommand);
}
