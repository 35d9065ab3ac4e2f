/**
 * cairn completion: prints a script for bash, zsh or fish. The script completes commands, options and file names, and asks
 * `cairn __complete` for what is on the hub.
 */

import { COMMON_FLAGS, type Command, type CommandGroup, type Options, plainPlace } from './command.ts';
import { BASH_ASKS, FISH_ASKS, ZSH_ASKS } from './completion-asks.ts';
import { print } from './output.ts';
import { UsageError } from './usage-error.ts';

/** The completion command. `load` loads all commands, including this one. */
export function completionCommand(load: () => Promise<readonly CommandGroup[]>): Command {
  return {
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    operands: ['SHELL'],
    completes: { SHELL: ['bash', 'zsh', 'fish'] },
    examples: ['source <(cairn completion bash)', 'cairn completion fish > ~/.config/fish/completions/cairn.fish'],
    run: async (options) =>
      complete(
        options,
        (await load()).flatMap(({ commands }) => commands),
      ),
  };
}

function complete(options: Options, commands: readonly Command[]): number {
  const shell = { bash, zsh, fish }[options.operand() ?? ''];
  if (shell === undefined) throw new UsageError('completion needs one of: bash, zsh, fish');
  print(shell(commands));
  return 0;
}

/** Completions after certain words. */
interface Place {
  /** The preceding words, without `cairn`. */
  readonly after: string;
  readonly words: readonly string[];
}

/** Every known place, the longest first. */
function placesOf(commands: readonly Command[]): readonly Place[] {
  const groups = [...new Set(commands.filter(hasGroup).map(groupOf))].map((group) => ({
    after: group,
    words: commands.filter((command) => hasGroup(command) && groupOf(command) === group).map(actionOf),
  }));
  const merged = new Map<string, readonly string[]>(groups.map(({ after, words }) => [after, words]));
  for (const command of commands) {
    merged.set(command.name, [...(merged.get(command.name) ?? []), ...optionWords(command)]);
  }
  return [...merged]
    .map(([after, words]) => ({ after, words }))
    .sort((a, b) => b.after.split(' ').length - a.after.split(' ').length);
}

/** Options with a value. The value is completed as a file name. */
const valuedOptions = (commands: readonly Command[]) => [
  ...new Set(commands.flatMap(({ options = [] }) => options.map(({ name }) => `--${name}`))),
];

/** A line at whose end a value belongs that `cairn __complete` knows. */
interface AskedPlace {
  readonly command: string;
  /** The option before the value; undefined: an operand. */
  readonly option: string | undefined;
}

const askedPlaces = (commands: readonly Command[]): readonly AskedPlace[] =>
  commands.flatMap(({ name, options = [], operands = [], completes = {} }) => [
    ...options.filter((option) => option.name in completes).map((option) => ({ command: name, option: option.name })),
    ...(operands.some((place) => plainPlace(place) in completes) ? [{ command: name, option: undefined }] : []),
  ]);

/** Such lines as one pattern of a `case` in bash and zsh. */
const askedPattern = (commands: readonly Command[]): string =>
  askedPlaces(commands)
    .map(({ command, option }) => `"${command} "*${option === undefined ? '' : `"--${option} "`}`)
    .join('|');

/** Such lines as the patterns of a `case` in fish. */
const fishPatterns = (commands: readonly Command[]): string =>
  askedPlaces(commands)
    .map(({ command, option }) => `'${command} *${option === undefined ? '' : `--${option} `}'`)
    .join(' ');

/** The `case` branches shared by bash and zsh; `set` writes the assignment of the completions. */
function branches(commands: readonly Command[], set: (words: readonly string[]) => string): string {
  return [
    `    *" "${valuedOptions(commands).join('" "|*" "')}" ") ;;`,
    ...placesOf(commands).map(({ after, words }) => `    "${after} "*) ${set(words)} ;;`),
    `    "") ${set(firstWords(commands))} ;;`,
  ].join('\n');
}

function bash(commands: readonly Command[]): string {
  return `${BASH_ASKS}
_cairn() {
  local line="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do line+="$word "; done
  case "$line" in
    ${askedPattern(commands)}) _cairn_ask && return ;;
  esac
  case "$line" in
${branches(commands, (words) => `words="${words.join(' ')}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _cairn cairn`;
}

/** Registers itself when sourced. As a file \`_cairn\` in fpath, zsh calls it at the first completion. */
function zsh(commands: readonly Command[]): string {
  return `#compdef cairn
${ZSH_ASKS}
_cairn() {
  local line="" word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do line+="$word "; done
  case "$line" in
    ${askedPattern(commands)}) _cairn_ask && return ;;
  esac
  case "$line" in
${branches(commands, (words) => `found=(${words.join(' ')})`)}
  esac
  compadd -a found || _files
}
if [ "\${funcstack[1]}" = "_cairn" ]; then
  _cairn "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i; }
  compdef _cairn cairn
fi`;
}

function fish(commands: readonly Command[]): string {
  const summaries = new Map(commands.map(({ name, summary }) => [name, summary]));
  const line = (after: string, word: string) => {
    const summary = summaries.get(`${after} ${word}`.trim());
    return quoted(summary === undefined ? word : `${word}\t${summary}`);
  };
  const cases = [...placesOf(commands), { after: '', words: firstWords(commands) }].map(
    ({ after, words }) =>
      `    case '${after === '' ? '' : `${after} *`}'\n      set found ${words.map((word) => line(after, word)).join(' ')}`,
  );
  return `${FISH_ASKS}
function __cairn_complete
  set -l line (commandline -opc)
  set -e line[1]
  set -l found
  switch (string join -- ' ' $line '')
    case ${fishPatterns(commands)}
      __cairn_ask $line; and return
  end
  switch (string join -- ' ' $line '')
    case ${valuedOptions(commands)
      .map((name) => `'* ${name} '`)
      .join(' ')}
${cases.join('\n')}
  end
  set -l token (commandline -ct)
  if string match -rq -- '^'(string escape --style=regex -- $token) $found
    printf '%s\\n' $found
  else
    __fish_complete_path $token
  end
end
complete -c cairn -f -a '(__cairn_complete)'`;
}

const hasGroup = ({ name }: Command) => name.includes(' ');
const groupOf = ({ name }: Command) => name.split(' ')[0] ?? '';
const actionOf = ({ name }: Command) => name.split(' ')[1] ?? '';
const firstWords = (commands: readonly Command[]) => [...new Set([...commands.map(groupOf), 'help'])];
const optionWords = ({ options = [], flags = [] }: Command) =>
  [...options.map(({ name }) => name), ...flags, ...COMMON_FLAGS].map((name) => `--${name}`);
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
