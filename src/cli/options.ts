/** Owns how the options of a subcommand are read. */
import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

export interface Options {
  /** The value of a required option. Throws UsageError when it is missing. */
  required(name: string): string;
  optional(name: string): string | undefined;
  /** Whether an option without a value was given. */
  flag(name: string): boolean;
  /** The word without a name, of a command that takes one; else empty. */
  readonly operand: string;
  readonly json: boolean;
}

export interface OptionsShape {
  /** What the help calls the one word without a name; absent: the command takes none. */
  readonly operand?: string;
  /** Options without a value, beside `--json`. */
  readonly flags?: readonly string[];
}

/** Reads `--name value`, flags and `--json`. Throws UsageError on anything else. */
export function readOptions(
  argv: readonly string[],
  names: readonly string[],
  { operand: operandName, flags = [] }: OptionsShape = {},
): Options {
  let values: Record<string, unknown>;
  let operands: string[];
  try {
    const options = Object.fromEntries([
      ...names.map((name) => [name, { type: 'string' as const }] as const),
      ...[...flags, 'json'].map((name) => [name, { type: 'boolean' as const }] as const),
    ]);
    ({ values, positionals: operands } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: operandName !== undefined,
    }));
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] ?? 'wrong options');
  }
  if (operandName !== undefined && operands.length !== 1) throw new UsageError(`name one ${operandName}`);
  const optional = (name: string) => values[name] as string | undefined;
  return {
    optional,
    required(name) {
      const value = optional(name);
      if (value === undefined) throw new UsageError(`--${name} is required`);
      return value;
    },
    flag: (name) => values[name] === true,
    operand: operands[0] ?? '',
    json: values['json'] === true,
  };
}
