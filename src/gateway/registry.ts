/** Stores the tools by name, in a stable order, with the descriptions derived once from their declarations. */
import { Refusal } from '../common/fault.ts';
import { inTurns } from '../common/turns.ts';
import { type JsonSchema, jsonSchema, withoutBounds } from '../fields/json-schema.ts';
import { meantTools } from '../fields/misnamed.ts';
import { type Face, isListed } from './faces.ts';
import { metaOf } from './hints.ts';
import { isSaidOtherwise } from './model-words.ts';
import { KEY_ARGUMENT, keyArgument, type Tool, takesKey } from './tool.ts';
import { type ToolCalls, ToolTraffic } from './tool-traffic.ts';

/** A tool as described in documents. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: Tool['annotations'];
}

export class ToolRegistry {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #traffic: ToolTraffic;
  readonly #described = new Map<string, ToolDescription>();
  readonly #listed = new Map<string, string>();

  /** `traffic`: counts the calls. Throws when two tools have the same name. */
  constructor(tools: readonly Tool[], traffic: ToolTraffic = new ToolTraffic()) {
    this.#traffic = traffic;
    // Register tools before their first call, so that their counters start at 0.
    for (const { name } of tools) traffic.of(name);
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    if (this.#tools.size !== tools.length) throw new Error('two tools have the same name');
  }

  /** The description of a tool. Made on first use: the schemas of all take 100 ms. */
  described(tool: Tool): ToolDescription {
    const known = this.#described.get(tool.name);
    if (known !== undefined) return known;
    const made = {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: withKey(tool, jsonSchema(tool.input, 'input')),
      outputSchema: jsonSchema(tool.output, 'output'),
      annotations: tool.annotations,
    };
    this.#described.set(tool.name, made);
    return made;
  }

  /** JSON of the tools that a caller sees, for `tools/list`. What was not written before is written in turns. */
  async listText(face: Face): Promise<string> {
    const tools = this.tools.filter((tool) => isListed(tool, face));
    const unwritten = tools.filter((tool) => !this.#listed.has(listedName(tool, face.form)));
    if (unwritten.length > 0) await inTurns(this.#write(unwritten, face.form));
    return `[${tools.map((tool) => this.#listed.get(listedName(tool, face.form))).join(',')}]`;
  }

  *#write(tools: readonly Tool[], form: Face['form']): Generator<void> {
    for (const tool of tools) {
      const whole = listed(tool, this.described(tool));
      this.#listed.set(listedName(tool, form), JSON.stringify(form === 'whole' ? whole : forModels(tool, whole)));
      yield;
    }
  }

  get tools(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  /** The names of the tools that accept prepared long contents (`takesContents`). */
  get contentTools(): readonly string[] {
    return this.tools.filter(({ takesContents }) => takesContents).map(({ name }) => name);
  }

  /** The call counts of a registered tool. */
  callsOf({ name }: Tool): ToolCalls {
    return this.#traffic.of(name);
  }

  /** True for the name of a tool that is made for models. */
  isForModels(name: unknown): boolean {
    const { sets = [] } = (typeof name === 'string' ? this.#tools.get(name) : undefined) ?? {};
    return sets.includes('models');
  }

  /**
   * The tool with a name. Throws Refusal `unknown_tool`, suggesting similar names: of the tools that `face` lists, and of
   * those that it says otherwise; undefined: of all.
   */
  find(name: unknown, face?: Face): Tool {
    const tool = typeof name === 'string' ? this.#tools.get(name) : undefined;
    if (tool !== undefined) return tool;
    const asked = typeof name === 'string' ? name.slice(0, 64) : '';
    const known = face === undefined ? this.tools : this.tools.filter((one) => canSuggest(one, face));
    const guesses = meantTools(
      asked,
      known.map((one) => one.name),
    );
    throw new Refusal({ kind: 'unknown_tool', name: asked, guesses });
  }
}

function canSuggest(tool: Tool, face: Face): boolean {
  if (isListed(tool, face)) return true;
  return face.form === 'models' && isSaidOtherwise(tool.name) && isListed(tool, { ...face, sets: undefined });
}

/** Under this name the JSON of a tool is kept. */
const listedName = ({ name }: Tool, form: Face['form']) => `${form} ${name}`;

/** Adds the argument that the tool itself does not read. */
function withKey(tool: Tool, schema: JsonSchema): JsonSchema {
  if (!takesKey(tool)) return schema;
  const { properties } = jsonSchema(keyArgument, 'input');
  return { ...schema, properties: { ...(schema['properties'] as object), ...(properties as object) } };
}

/** Its name says what it is, and half of the tools would repeat its description. */
function withBareKey(schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>> | undefined;
  const key = properties?.[KEY_ARGUMENT];
  if (key === undefined) return schema;
  const { description: _, ...bare } = key;
  return { ...schema, properties: { ...properties, [KEY_ARGUMENT]: bare } };
}

function listed(tool: Tool, description: ToolDescription): ToolDescription {
  const { listedInput } = tool;
  const schema = listedInput === undefined ? description.inputSchema : withKey(tool, jsonSchema(listedInput, 'input'));
  const input = withBareKey(schema);
  return {
    ...description,
    inputSchema: withoutBounds(input),
    outputSchema: withoutBounds(description.outputSchema),
  };
}

/** What a model reads before its first call: hints only where they differ from what MCP assumes. */
function forModels({ hints }: Tool, { name, title, description, inputSchema: whole, annotations }: ToolDescription) {
  // Keys are for programs: a model sees whether its call was a repetition.
  const { [KEY_ARGUMENT]: _, ...properties } = (whole['properties'] ?? {}) as Record<string, unknown>;
  const inputSchema = { ...whole, properties };
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  return {
    name,
    title,
    description,
    inputSchema,
    annotations: {
      readOnlyHint,
      ...(readOnlyHint ? {} : { destructiveHint }),
      ...(!readOnlyHint && idempotentHint ? { idempotentHint } : {}),
      openWorldHint: false,
    },
    ...(hints === undefined ? {} : { _meta: metaOf(hints) }),
  };
}
