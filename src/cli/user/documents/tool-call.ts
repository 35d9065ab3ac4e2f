/** Owns what commands over one tool share: the call, what is printed of it, and arguments that may be left out. */
import { jsonLine } from '../../../client/shown.ts';
import type { ToolClient } from '../../../client/tools.ts';
import { type Command, type CommandOption, type Options, takes } from '../../command.ts';
import { print } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { openTools } from '../tool-access.ts';

export const SERVER: CommandOption = takes('server', 'URL');

type Args = Readonly<Record<string, unknown>>;

/** Calls a tool and prints its text, or with --json its structured result. Returns the exit code 0. */
export async function callTool(options: Options, name: string, args: Args): Promise<number> {
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

/** An argument as a member of an object, or no member. */
export function given<T>(name: string, value: T | undefined): Record<string, T> {
  return value === undefined ? {} : { [name]: value };
}

/** A whole number, of an option or operand. Throws UsageError. */
export function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${name} takes a whole number`);
  return Number(text);
}

/** Makes commands that change one thing, which its number names, in one way. `example`: a number for their examples. */
export function changesOf(example: number) {
  return (name: string, summary: string, tool: string, args: Args): Command => ({
    name,
    summary,
    operands: ['ID'],
    options: [SERVER],
    examples: [`cairn ${name} ${example}`],
    run: (options) => callTool(options, tool, { id: readNumber('ID', options.operand()), ...args }),
  });
}
