/** Finds the command that was typed, runs it, sets the exit code. */
import { existsSync } from 'node:fs';
import { ClientError, Unreachable } from '../client/client-error.ts';
import { quoted } from '../client/shown.ts';
import { ToolRefused } from '../client/tool-refused.ts';
import { Refusal } from '../common/fault.ts';
import { StartError } from '../common/start-error.ts';
import { systemSentence } from '../common/system-reason.ts';
import { operatorSentence } from '../control/operator-words.ts';
import { requireOpenFiles } from '../ops/open-files.ts';
import { type Command, type CommandList, readOptions } from './command.ts';
import { commandHelp, overview } from './help.ts';
import { commandWord, meantCommand } from './meant.ts';
import { print, printError } from './output.ts';
import { endWithOutput, ignoreForeignSignals, keepMemoryOutOfCoreDumps } from './process.ts';
import { UsageError } from './usage-error.ts';

const EXIT = { done: 0, refused: 1, usage: 2, conflict: 3, unreachable: 4 } as const;

async function run(argv: readonly string[], { findCommand, loadGroups }: CommandList): Promise<number> {
  const [first] = argv;
  requireOpenFiles();
  // The service keeps running when the reader of its log exits.
  if (first !== 'serve') endWithOutput();
  if (first === undefined || first === '--help' || first === '-h') {
    print(overview(await loadGroups()));
    return EXIT.done;
  }
  const found = await findCommand(argv);
  if (found === undefined) throw await unknownCommand(argv, loadGroups);
  const { command, rest } = found;
  const [word] = rest;
  if (word !== undefined && !word.startsWith('-') && command.operands === undefined) {
    throw await unknownSubcommand(command, rest, loadGroups);
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    print(commandHelp(command));
    return EXIT.done;
  }
  try {
    return await command.run(readOptions(command, rest));
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, command.name) : error;
  }
}

/** `cairn tasks help` asks for the help of `cairn tasks`. */
function asTyped(argv: readonly string[]): readonly string[] {
  const [first = '', second] = argv;
  return argv.length === 2 && second === 'help' && first !== 'help' ? [first, '--help'] : argv;
}

/** Error for an unknown command: lists the commands of a group, or suggests what was probably meant. */
async function unknownCommand(argv: readonly string[], loadGroups: CommandList['loadGroups']): Promise<UsageError> {
  const [first = '', second] = argv;
  const names = (await loadGroups()).flatMap(({ commands }) => commands.map(({ name }) => name));
  const meant = meantCommand(argv, names);
  const word = commandWord(first);
  const group = names.filter((name) => name.startsWith(`${word} `)).map((name) => name.slice(word.length + 1));
  if (meant !== undefined) {
    return new UsageError(`there is no command ${[first, second].join(' ').trim()}; did you mean \`cairn ${meant}\`?`);
  }
  if (group.length > 0) return new UsageError(`${word} needs one of: ${group.join(', ')}`);
  return new UsageError(`there is no command ${first}`);
}

/** Error for a word after a command that takes none, such as a misspelt `cairn sync status`, or a folder. */
async function unknownSubcommand(
  command: Command,
  rest: readonly string[],
  loadGroups: CommandList['loadGroups'],
): Promise<UsageError> {
  const { name } = command;
  const [word = ''] = rest;
  const names = (await loadGroups()).flatMap(({ commands }) => commands.map((one) => one.name));
  const guess = meantCommand([name, word], names);
  const isFolder = name === 'sync' && guess === undefined && existsSync(word);
  const meant = isFolder ? `${name} --folder ${quoted(word)}` : (guess ?? withItsOption(command, rest));
  const hint = meant === undefined ? '' : `; did you mean \`cairn ${meant}\`?`;
  return new UsageError(`unexpected argument: ${word}${hint}`, name);
}

/** The value of a required option, typed without its name, as in `cairn key revoke KEY_ID`. */
function withItsOption({ name, options = [] }: Command, [word = '', ...rest]: readonly string[]): string | undefined {
  const isEmail = word.includes('@');
  const missing = options.filter(
    (option) =>
      option.required && !rest.some((one) => one === `--${option.name}` || one.startsWith(`--${option.name}=`)),
  );
  const own = missing.find((option) => (option.name === 'email') === isEmail) ?? missing[0];
  return own && [name, ...[...rest, `--${own.name}`, word].map(quoted)].join(' ');
}

/**
 * Exit code of an error, so that a script can distinguish: nothing was changed, a pending conflict, an unknown outcome.
 */
function exitOf(error: Error): number {
  if (error instanceof ClientError && error.exitCode !== undefined) return error.exitCode;
  if (error instanceof Unreachable) return EXIT.unreachable;
  return error instanceof ToolRefused && error.isConflict ? EXIT.conflict : EXIT.refused;
}

/** Runs what was typed after `cairn`. Sets the exit code of the process; throws only what nobody expected. */
export async function runCommand(argv: readonly string[], commands: CommandList): Promise<void> {
  keepMemoryOutOfCoreDumps();
  ignoreForeignSignals();
  try {
    process.exitCode = await run(asTyped(argv), commands);
  } catch (error) {
    tellError(error);
  }
}

function tellError(error: unknown): void {
  if (error instanceof UsageError) {
    const next = error.message.endsWith('?') ? ' See' : '; see';
    const help = ['cairn', ...(error.command === undefined ? [] : [error.command]), '--help'].join(' ');
    printError(`cairn: ${error.message}${next} \`${help}\``);
    process.exitCode = EXIT.usage;
  } else if (error instanceof StartError || error instanceof ClientError || error instanceof Refusal) {
    printError(`cairn: ${error instanceof Refusal ? operatorSentence(error) : error.message}`);
    process.exitCode = exitOf(error);
  } else {
    const sentence = systemSentence(error);
    if (sentence === undefined) throw error;
    printError(`cairn: ${sentence}`);
    process.exitCode = EXIT.refused;
  }
}
