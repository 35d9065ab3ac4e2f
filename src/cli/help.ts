/** Builds the help texts from the declarations of the commands. */
import { topicNames } from '../common/manual.ts';
import { version } from '../common/version.ts';
import type { Command, CommandGroup } from './command.ts';

const NAME_WIDTH = 18;

/** Descriptions of options that mean the same in most commands. A command may have its own. */
const COMMON: Readonly<Record<string, string>> = {
  server: 'address of the hub; default: CAIRN_SERVER, else the last sign-in',
  email: 'email of the account',
  account: 'email of the account',
  limit: 'how many to list at most',
  cursor: 'continue a list: the cursor that the page before it printed',
  search: 'only those that contain this text, in any case',
  id: 'id, as the list prints it',
  'with-key': 'also copy the master key',
  json: 'print the result as JSON',
};

export function overview(groups: readonly CommandGroup[]): string {
  const blocks = groups.map(({ title, commands }) =>
    [title, ...commands.map(({ name, summary }) => `  cairn ${name.padEnd(NAME_WIDTH)}  ${summary}`)].join('\n'),
  );
  return `cairn ${version}

${blocks.join('\n\n')}

Topics of the manual, for cairn help TOPIC
  ${topicNames.join(', ')}

cairn COMMAND --help explains the options of a command, with examples. Every command takes --json.
Settings are environment variables: cairn help settings lists them.

Exit codes: 0 done, 1 refused or damaged, 2 wrong usage, 3 conflicts to resolve, 4 hub unreachable.
`;
}

/** Help of one command: usage, options and examples. */
export function commandHelp(command: Command): string {
  const examples = command.examples.map((example) => `  ${example}`).join('\n');
  return `cairn ${synopsis(command)}\n\n${command.summary}\n${explained(command)}\nExamples\n${examples}\n`;
}

/** Each option with its description. */
function explained({ options = [], flags = [], explains = {} }: Command): string {
  const names: [string, string][] = [
    ...options.map(({ name, value }): [string, string] => [name, `--${name} ${value}`]),
    ...[...flags, 'json'].map((name): [string, string] => [name, `--${name}`]),
  ];
  const width = Math.max(...names.map(([, shown]) => shown.length));
  const lines = names.map(([name, shown]) => `  ${shown.padEnd(width)}  ${explains[name] ?? COMMON[name] ?? ''}`);
  return `\nOptions\n${lines.join('\n')}\n`;
}

function synopsis({ name, operands = [], options = [], flags = [] }: Command): string {
  return [
    name,
    ...operands,
    ...options.map(({ name: option, value, required, isMany }) => {
      const shown = `--${option} ${value}`;
      return `${required ? shown : `[${shown}]`}${isMany === true ? '…' : ''}`;
    }),
    ...[...flags, 'json'].map((flag) => `[--${flag}]`),
  ].join(' ');
}
