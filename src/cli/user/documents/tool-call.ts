/** Shared by commands for one tool: calls it, prints the result, builds optional arguments. */
import { jsonLine } from '../../../client/shown.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import type { ToolClient } from '../../../client/tools.ts';
import { type Command, type CommandOption, type HubKind, type Options, takes } from '../../command.ts';
import { print, printError } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { openTools } from '../tool-access.ts';

export const SERVER: CommandOption = takes('server', 'URL');

type Args = Readonly<Record<string, unknown>>;

/** Calls a tool and prints its text, or with --json its structured result. Returns the exit code 0. */
export async function runToolCommand(options: Options, name: string, args: Args): Promise<number> {
  printAnswer(options, await toolsOf(options).call(name, args));
  return 0;
}

export function printAnswer(
  options: Options,
  { text, structured }: { readonly text: string; readonly structured: Args },
) {
  print(options.json ? jsonLine(structured) : text);
}

export function toolsOf(options: Options): ToolClient {
  return openTools(options.optional('server')).tools;
}

/** An argument as an object with one member, or an empty object when undefined. */
export function given<T>(name: string, value: T | undefined): Record<string, T> {
  return value === undefined ? {} : { [name]: value };
}

/** Parses a whole number from an option or operand, also as a list shows it: `#7`. Throws UsageError. */
export function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits] = /^#?(\d{1,15})$/.exec(text) ?? [];
  if (digits === undefined) {
    const sentence =
      name === 'ID' ? 'ID must be a whole number, as the list shows it' : `--${name} must be a whole number`;
    throw new UsageError(sentence);
  }
  return Number(digits);
}

/**
 * Calls a tool for each of the numbers that were typed, and prints each answer. What is refused is told and stops no
 * other. Returns the exit code.
 */
export async function runForEach(options: Options, name: string, args: Args): Promise<number> {
  const ids = options.operands.map((text) => readNumber('ID', text));
  if (ids.length === 1) return await runToolCommand(options, name, { id: ids[0], ...args });
  const tools = toolsOf(options);
  let code = 0;
  for (const id of new Set(ids)) {
    try {
      printAnswer(options, await tools.call(name, { id, ...args }));
    } catch (error) {
      if (!(error instanceof ToolRefused) || error.waitSeconds !== undefined) throw error;
      printError(`cairn: #${id}: ${error.message}`);
      code = 1;
    }
  }
  return code;
}

/**
 * Builds commands for one kind of change to items, selected by their numbers. `example`: the number in their examples.
 * `listed`: what completes that number.
 */
export function changesOf(example: number) {
  return (name: string, summary: string, tool: string, args: Args, listed?: HubKind): Command => ({
    name,
    summary,
    operands: ['ID…'],
    options: [SERVER],
    ...(listed === undefined ? {} : { completes: { ID: listed } }),
    examples: [`cairn ${name} ${example}`, `cairn ${name} ${example} ${example + 2}`],
    run: (options) => runForEach(options, tool, args),
  });
}
