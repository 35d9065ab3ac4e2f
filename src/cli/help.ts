/** Owns the words of the help, all of them out of the commands themselves. */
import { version } from '../common/version.ts';
import type { Command, CommandGroup } from './command.ts';

const NAME_WIDTH = 18;

/** Every command in a line of its own. */
export function overview(groups: readonly CommandGroup[]): string {
  const blocks = groups.map(({ title, commands }) =>
    [title, ...commands.map(({ name, summary }) => `  cairn ${name.padEnd(NAME_WIDTH)}  ${summary}`)].join('\n'),
  );
  return `cairn ${version}

${blocks.join('\n\n')}

cairn COMMAND --help tells its options, with examples. Every command takes --json.
Settings are environment variables, CAIRN_*: the README lists them.

Exit codes: 0 done, 1 refused or found damaged, 2 wrong usage, 3 conflicts wait for you, 4 the hub cannot be reached.
`;
}

/** One command: how it is called, and examples. */
export function commandHelp(command: Command): string {
  const examples = command.examples.map((example) => `  ${example}`).join('\n');
  return `cairn ${synopsis(command)}\n\n${command.summary}\n\nExamples\n${examples}\n`;
}

function synopsis({ name, operands = [], options = [], flags = [] }: Command): string {
  return [
    name,
    ...operands,
    ...options.map((option) =>
      option.required ? `--${option.name} ${option.value}` : `[--${option.name} ${option.value}]`,
    ),
    ...[...flags, 'json'].map((flag) => `[--${flag}]`),
  ].join(' ');
}
