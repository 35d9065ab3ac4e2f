/** Owns how the options of a subcommand are read. */
import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

export interface Options {
  /** The value of a required option. Throws UsageError when it is missing. */
  required(name: string): string;
  optional(name: string): string | undefined;
  readonly json: boolean;
}

/** Reads `--name value` and `--json`. Throws UsageError on anything else. */
export function readOptions(argv: readonly string[], names: readonly string[]): Options {
  let values: Record<string, unknown>;
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
    ({ values } = parseArgs({ args: [...argv], options: { ...options, json: { type: 'boolean' } } }));
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] ?? 'wrong options');
  }
  const optional = (name: string) => values[name] as string | undefined;
  return {
    optional,
    required(name) {
      const value = optional(name);
      if (value === undefined) throw new UsageError(`--${name} is required`);
      return value;
    },
    json: values['json'] === true,
  };
}
