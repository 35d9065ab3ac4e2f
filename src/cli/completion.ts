/** cairn completion: a script for the shell that completes commands and options. */

import { COMMON_FLAGS, type Command, type CommandGroup, type Options } from './command.ts';
import { print } from './output.ts';
import { UsageError } from './usage-error.ts';

/** The command, over a list that it is itself a part of. */
export function completionCommand(load: () => Promise<readonly CommandGroup[]>): Command {
  return {
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    operands: ['SHELL'],
    examples: ['source <(cairn completion bash)', 'cairn completion fish > ~/.config/fish/completions/cairn.fish'],
    run: async (options) =>
      complete(
        options,
        (await load()).flatMap(({ commands }) => commands),
      ),
  };
}

function complete(options: Options, commands: readonly Command[]): number {
  switch (options.operand()) {
    case 'bash':
      print(bash(commands));
      return 0;
    case 'zsh':
      // zsh reads bash's own form through its compatibility module.
      print(`autoload -Uz bashcompinit && bashcompinit\n${bash(commands)}`);
      return 0;
    case 'fish':
      print(fish(commands));
      return 0;
    default:
      throw new UsageError('completion takes bash, zsh or fish');
  }
}

/** A case for each command; the longest name is looked at first. */
function bash(commands: readonly Command[]): string {
  const cases = [...commands]
    .sort((a, b) => b.name.length - a.name.length)
    .map((command) => `    "${command.name} "*) words="${optionWords(command).join(' ')}" ;;`);
  const groups = [...new Set(commands.filter(hasGroup).map(groupOf))].map(
    (group) =>
      `    "${group} "*) words="${commands
        .filter((c) => hasGroup(c) && groupOf(c) === group)
        .map(actionOf)
        .join(' ')}" ;;`,
  );
  return `_cairn() {
  local line="\${COMP_WORDS[*]:1:$((COMP_CWORD - 1))} " words
  case "$line" in
${[...cases, ...groups].join('\n')}
    *) words="${firstWords(commands).join(' ')}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _cairn cairn`;
}

function fish(commands: readonly Command[]): string {
  const first = firstWords(commands).map((word) => {
    const only = commands.find(({ name }) => name === word);
    return `complete -c cairn -n __fish_use_subcommand -a ${word}${only === undefined ? '' : ` -d '${quoted(only.summary)}'`}`;
  });
  const actions = commands
    .filter(hasGroup)
    .map(
      (c) =>
        `complete -c cairn -n '__fish_seen_subcommand_from ${groupOf(c)}' -a ${actionOf(c)} -d '${quoted(c.summary)}'`,
    );
  const options = commands.flatMap((command) =>
    optionWords(command).map((word) => {
      const seen = command.name.split(' ').map((part) => `__fish_seen_subcommand_from ${part}`);
      return `complete -c cairn -n '${seen.join('; and ')}' -l ${word.slice(2)}`;
    }),
  );
  return ['complete -c cairn -f', ...first, ...actions, ...options].join('\n');
}

const hasGroup = ({ name }: Command) => name.includes(' ');
const groupOf = ({ name }: Command) => name.split(' ')[0] ?? '';
const actionOf = ({ name }: Command) => name.split(' ')[1] ?? '';
const firstWords = (commands: readonly Command[]) => [...new Set(commands.map(groupOf))];
const optionWords = ({ options = [], flags = [] }: Command) =>
  [...options.map(({ name }) => name), ...flags, ...COMMON_FLAGS].map((name) => `--${name}`);
const quoted = (text: string) => text.replaceAll("'", "\\'");
