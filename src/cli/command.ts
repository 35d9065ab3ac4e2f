/** Owns what a command of the command line is: declared once; help, completion and the reading of options derive from it. */
import { parseArgs } from 'node:util';
import { nearest } from '../text/nearest.ts';
import { UsageError } from './usage-error.ts';

export interface CommandOption {
  /** Without the dashes. */
  readonly name: string;
  /** What the help calls its value. */
  readonly value: string;
  readonly required: boolean;
  /** May be given more than once. */
  readonly isMany?: true;
}

export interface Command {
  /** The words that call it. */
  readonly name: string;
  readonly summary: string;
  /** What the help calls the words without a name; the command takes exactly these. A last one in brackets may be left out. */
  readonly operands?: readonly string[];
  readonly options?: readonly CommandOption[];
  /** Options without a value. */
  readonly flags?: readonly string[];
  /** What each option does, by its name, for the help. */
  readonly explains?: Readonly<Record<string, string>>;
  /** Takes options of any other name as well, as `--name=value` or `--name`. */
  readonly isOpen?: true;
  readonly examples: readonly string[];
  /** The exit code. */
  run(options: Options): Promise<number>;
}

/** An option that the command cannot do without. */
export const needs = (name: string, value: string): CommandOption => ({ name, value, required: true });

/** An option that may be left out. */
export const takes = (name: string, value: string): CommandOption => ({ name, value, required: false });

/** An option that may be given more than once. */
export const repeats = (name: string, value: string): CommandOption => ({ name, value, required: false, isMany: true });

/** What a command was called with. */
export interface Options {
  /** The value of an option that the command needs. */
  required(name: string): string;
  optional(name: string): string | undefined;
  /** The values of an option that may be given more than once. */
  many(name: string): readonly string[];
  /** Whether an option without a value was given. */
  flag(name: string): boolean;
  /** The word without a name at this place. */
  operand(index?: number): string | undefined;
  /** What else was given to a command that is open. */
  readonly others: Readonly<Record<string, string | true>>;
  readonly json: boolean;
}

/** Every command takes it. */
export const COMMON_FLAGS: readonly string[] = ['json', 'help'];

/** Reads what a command was called with. Throws UsageError with the nearest name when an option is unknown. */
export function readOptions(command: Command, argv: readonly string[]): Options {
  const { options = [], flags = [], operands = [] } = command;
  const known = [...options.map(({ name }) => name), ...flags, ...COMMON_FLAGS];
  const shape = Object.fromEntries([
    ...options.map(({ name, isMany }) => [name, { type: 'string' as const, multiple: isMany === true }] as const),
    ...[...flags, ...COMMON_FLAGS].map((name) => [name, { type: 'boolean' as const }] as const),
  ]);
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(argv, shape, command.isOpen === true);
  } catch (error) {
    throw usageOf(error as Error, known);
  }
  const { values, positionals: words } = parsed;
  const least = operands.filter((name) => !name.startsWith('[')).length;
  if (words.length < least) throw new UsageError(`${command.name} needs ${operands[words.length] ?? ''}`);
  if (words.length > operands.length)
    throw new UsageError(`${command.name} does not take ${words[operands.length] ?? ''}`);
  const missing = options.find(({ name, required }) => required && values[name] === undefined);
  if (missing !== undefined) throw new UsageError(`--${missing.name} is required`);
  // What is not strict lets an option pass without its value.
  const bare = options.find(({ name }) => values[name] === true);
  if (bare !== undefined) throw new UsageError(`--${bare.name} needs ${bare.value}`);
  return {
    required: (name) => values[name] as string,
    optional: (name) => values[name] as string | undefined,
    many: (name) => (values[name] as string[] | undefined) ?? [],
    flag: (name) => values[name] === true,
    operand: (index = 0) => words[index],
    others: Object.fromEntries(
      Object.entries(values as Record<string, string | true>).filter(([name]) => !known.includes(name)),
    ),
    json: values['json'] === true,
  };
}

type Shape = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }>>;

const parse = (argv: readonly string[], options: Shape, isOpen: boolean) =>
  parseArgs({ args: [...argv], options, allowPositionals: true, strict: !isOpen });

function usageOf(error: Error, known: readonly string[]): UsageError {
  const unknown = /^Unknown option '--?([^']+)'/.exec(error.message)?.[1];
  if (unknown === undefined) return new UsageError(error.message.split('. ')[0] ?? 'wrong options');
  const guess = nearest(unknown, known);
  return new UsageError(`there is no option --${unknown}${guess === undefined ? '' : `; did you mean --${guess}?`}`);
}

/** Commands that the help lists under one title. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}
