/** cairn call: calls any tool of a hub, with its arguments as options; without a name, lists the tools. */

import { ClientError } from '../../client/client-error.ts';
import type { ListedTool } from '../../client/tools.ts';
import { nearest } from '../../text/nearest.ts';
import { type Command, type Options, takes } from '../command.ts';
import { printResult, table } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { openTools } from './tool-access.ts';

export const callCommand: Command = {
  name: 'call',
  summary: 'call any tool: --argument=value for each argument; without a name, list them',
  operands: ['[TOOL]'],
  completes: { TOOL: 'tool' },
  options: [takes('server', 'URL')],
  isOpen: true,
  examples: [
    'cairn call',
    "cairn call create_task --content='Renew the certificates' --is_important",
    'cairn call list_tasks --limit=5 --json',
    `cairn call sync_pull --paths='["notes.md"]'`,
  ],
  run: call,
};

async function call(options: Options): Promise<number> {
  const { tools: client } = openTools(options.optional('server'), {}, 'tools');
  const tools = await client.list();
  const name = options.operand();
  if (name === undefined) {
    const rows = tools.map((tool) => [tool.name, tool.description.split('. ')[0] ?? ''] as const);
    return printResult(options, { tools }, () => table(rows));
  }
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) {
    const guess = nearest(
      name,
      tools.map((candidate) => candidate.name),
    );
    throw new ClientError(
      `the hub has no tool ${name}${guess === undefined ? '; `cairn call` lists them' : `; did you mean ${guess}?`}`,
    );
  }
  const { text, structured } = await client.call(name, readArguments(tool, options.others));
  printResult(options, structured, () => text);
  return hasRefused(structured) ? 1 : 0;
}

/** True when a part of the call was refused: tools that take several things tell of each. */
function hasRefused({ failed, results }: Readonly<Record<string, unknown>>): boolean {
  const isRefused = (one: unknown) => {
    const { done, status } = (one ?? {}) as { readonly done?: unknown; readonly status?: unknown };
    return done === false || status === 'refused';
  };
  return (Array.isArray(failed) && failed.length > 0) || (Array.isArray(results) && results.some(isRefused));
}

/** Converts option values to the types of the tool's input schema. Unknown names are left for the hub to reject. */
function readArguments(
  { inputSchema }: ListedTool,
  given: Readonly<Record<string, string | true>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, readValue(name, value, inputSchema.properties[name])]),
  );
}

function readValue(name: string, value: string | true, schema: Schema | undefined): unknown {
  if (value === true || schema === undefined) return value;
  const types = typesOf(schema);
  if (value === 'null' && types.has('null')) return null;
  if (types.has('string')) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw new UsageError(`--${name} must be ${[...types].join(' or ')}${types.has('array') ? ', as JSON' : ''}`);
  }
}

type Schema = Readonly<Record<string, unknown>>;

function typesOf(schema: Schema): Set<string> {
  const { type, anyOf, enum: values } = schema;
  const own = typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : [];
  const inner = Array.isArray(anyOf) ? anyOf.flatMap((one) => [...typesOf(one as Schema)]) : [];
  const ofValues = Array.isArray(values) ? values.map((value) => typeof value) : [];
  return new Set([...own, ...inner, ...(own.length > 0 ? [] : ofValues)]);
}
