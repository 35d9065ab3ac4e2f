/** Declares a command of the command line. Help, completion and option parsing are derived from the declaration. */
import { parseArgs } from 'node:util';
import { quoted } from '../client/shown.ts';
import { nearest } from '../text/nearest.ts';
import { UsageError } from './usage-error.ts';

export interface CommandOption {
  /** Name without the dashes. */
  readonly name: string;
  /** Placeholder of the value in the help. */
  readonly value: string;
  readonly required: boolean;
  /** The option may be repeated. */
  readonly isMany?: true;
  /** An earlier name, which is still accepted. */
  readonly formerly?: string;
}

/** What the hub lists, for completion. */
export type HubKind =
  | 'vault'
  | 'file'
  | 'kept file'
  | 'vault path'
  | 'open task'
  | 'done task'
  | 'task'
  | 'category'
  | 'paper'
  | 'doc'
  | 'doc category'
  | 'project'
  | 'topic'
  | 'tool';

/** What completes a value: something that the hub lists, or one of these words. */
export type Completes = HubKind | readonly string[];

export interface Command {
  /** The words after `cairn`, as in `account list`. */
  readonly name: string;
  readonly summary: string;
  /** Placeholders of the positional arguments in the help. The number is exact; a last one in brackets is optional, and one with `…` may be repeated. */
  readonly operands?: readonly string[];
  readonly options?: readonly CommandOption[];
  /** Options without a value. */
  readonly flags?: readonly string[];
  readonly explains?: Readonly<Record<string, string>>;
  /** What completes the value of an option, by its name, and an operand, by its placeholder without brackets. */
  readonly completes?: Readonly<Record<string, Completes>>;
  /** The only operand is a text, which is often typed without quotes. */
  readonly isText?: true;
  /** The only operand is words, which need no quotes. */
  readonly isWords?: true;
  /** What to do instead, for options that people try in vain, by name without the dashes. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Also accepts options with any other name, as `--name=value` or `--name`. */
  readonly isOpen?: true;
  readonly examples: readonly string[];
  /** Runs the command. Resolves with the exit code. */
  run(options: Options): Promise<number>;
}

/** The placeholder of an operand without the brackets of an optional one, and without what says that it may be repeated. */
export const plainPlace = (place: string): string => place.replace(/^\[(.*)\]$/, '$1').replace(/…$/, '');

/** The placeholder of the operand at a place; undefined: the command takes no such operand. */
export function placeAt(operands: readonly string[], at: number): string | undefined {
  const last = operands.at(-1);
  return operands[at] ?? (last?.endsWith('…') === true ? last : undefined);
}

export interface FoundCommand {
  readonly command: Command;
  /** The words after its name. */
  readonly rest: readonly string[];
}

/**
 * Finds the command with the longest name matching the first words. Returns it with the remaining words; undefined when
 * no command matches.
 */
export function commandNamed(commands: readonly Command[], words: readonly string[]): FoundCommand | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((candidate) => candidate.name === name);
    if (command !== undefined) return { command, rest: words.slice(length) };
  }
  return undefined;
}

/** The commands that a program has. */
export interface CommandList {
  /** Loads all, for the help and for what was probably meant. */
  readonly loadGroups: () => Promise<readonly CommandGroup[]>;
  readonly findCommand: (argv: readonly string[]) => Promise<FoundCommand | undefined>;
}

export const needs = (name: string, value: string): CommandOption => ({ name, value, required: true });

export const takes = (name: string, value: string): CommandOption => ({ name, value, required: false });

/** An optional option that may be repeated. */
export const repeats = (name: string, value: string): CommandOption => ({ name, value, required: false, isMany: true });

export interface Options {
  required(name: string): string;
  optional(name: string): string | undefined;
  /** A whole number, in digits only. Throws UsageError when it is something else. */
  count(name: string): number | undefined;
  /** Values of an option that may be repeated. */
  many(name: string): readonly string[];
  flag(name: string): boolean;
  /** Positional argument at this index. */
  operand(index?: number): string | undefined;
  /** All positional arguments. */
  readonly operands: readonly string[];
  /** Unknown options of a command with `isOpen`. */
  readonly others: Readonly<Record<string, string | true>>;
  readonly json: boolean;
}

export const COMMON_FLAGS: readonly string[] = ['json', 'help'];

/** Parses the arguments of a command. Throws UsageError with the most similar name when an option is unknown. */
export function readOptions(command: Command, argv: readonly string[]): Options {
  const { options = [], flags = [], operands = [] } = command;
  const known = [...options.map(({ name }) => name), ...flags, ...COMMON_FLAGS];
  const earlier = options.flatMap(({ name, formerly }) => (formerly === undefined ? [] : [{ name, formerly }]));
  const shape = Object.fromEntries([
    ...earlier.map(({ formerly }) => [formerly, { type: 'string' as const }] as const),
    ...options.map(({ name, isMany }) => [name, { type: 'string' as const, multiple: isMany === true }] as const),
    ...[...flags, ...COMMON_FLAGS].map((name) => [name, { type: 'boolean' as const }] as const),
  ]);
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = command.isWords === true ? parseWords(argv, shape) : parse(argv, shape, command.isOpen === true);
  } catch (error) {
    throw usageOf(error as Error, known, command.instead ?? {});
  }
  const { values, positionals } = parsed;
  for (const { name, formerly } of earlier) values[name] ??= values[formerly];
  const words = command.isWords === true && positionals.length > 0 ? [positionals.join(' ')] : positionals;
  const least = operands.filter((name) => !name.startsWith('[')).length;
  if (words.length < least)
    throw new UsageError(
      `${command.name} needs ${plainPlace(operands[words.length] ?? '')}, as in \`${command.examples[0] ?? ''}\``,
    );
  if (words.length > operands.length && command.isText === true) {
    throw new UsageError(`put the text in quotes: cairn ${command.name} ${quoted(words.join(' '))}`);
  }
  const unexpected = words.find((_, at) => placeAt(operands, at) === undefined);
  if (unexpected !== undefined) throw new UsageError(`unexpected argument: ${unexpected}`);
  const missing = options.find(({ name, required }) => required && values[name] === undefined);
  if (missing !== undefined)
    throw new UsageError(`--${missing.name} is required, as in \`${command.examples[0] ?? ''}\``);
  // Non-strict parsing accepts an option without its value.
  const bare = options.find(({ name }) => values[name] === true);
  if (bare !== undefined) throw new UsageError(`--${bare.name} needs ${bare.value}`);
  return {
    required: (name) => values[name] as string,
    optional: (name) => values[name] as string | undefined,
    count: (name) => countOf(name, values[name] as string | undefined),
    many: (name) => (values[name] as string[] | undefined) ?? [],
    flag: (name) => values[name] === true,
    operand: (index = 0) => words[index],
    operands: words,
    others: Object.fromEntries(
      Object.entries(values as Record<string, string | true>).filter(([name]) => !known.includes(name)),
    ),
    json: values['json'] === true,
  };
}

/** No argument of a process has this character. */
const MARK = '\0';

/** Words that begin with a hyphen are no options of one letter: there are none. They are marked, so that they keep their places. */
function parseWords(argv: readonly string[], shape: Shape): ReturnType<typeof parse> {
  const end = argv.indexOf('--');
  const marked = argv.map((one, at) => (/^-[^-]/.test(one) && (end < 0 || at < end) ? MARK + one : one));
  const plain = (one: string) => (one.startsWith(MARK) ? one.slice(MARK.length) : one);
  const { values, positionals } = parse(marked, shape, false);
  const read = Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? plain(value) : value]);
  return { values: Object.fromEntries(read) as typeof values, positionals: positionals.map(plain) };
}

function countOf(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^\d{1,9}$/.test(given)) throw new UsageError(`--${name} must be a whole number, like 5`);
  return Number(given);
}

type Shape = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }>>;

const parse = (argv: readonly string[], options: Shape, isOpen: boolean) =>
  parseArgs({ args: [...argv], options, allowPositionals: true, strict: !isOpen });

function usageOf(error: Error, known: readonly string[], instead: Readonly<Record<string, string>>): UsageError {
  const unknown = /^Unknown option '--?([^']+)'/.exec(error.message)?.[1];
  const empty = /^Option '(?:-\w, )?(--[^ ']+) <value>' argument missing/.exec(error.message)?.[1];
  if (empty !== undefined) return new UsageError(`${empty} needs a value`);
  if (unknown === undefined) return new UsageError(error.message.split('. ')[0] ?? 'wrong options');
  const advice = instead[unknown];
  if (advice !== undefined) return new UsageError(`there is no option --${unknown}; ${advice}`);
  const guess = nearest(unknown, known);
  return new UsageError(`there is no option --${unknown}${guess === undefined ? '' : `; did you mean --${guess}?`}`);
}

/** Commands listed under one title in the help. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}
