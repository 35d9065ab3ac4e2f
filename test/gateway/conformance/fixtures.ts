/** The tools, resources and prompts that the MCP conformance suite calls by name, as far as Cairn's declarations can say them. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { invalidField } from '../../../src/common/fault.ts';
import type { Question } from '../../../src/gateway/asking/ask.ts';
import type { PromptItem, PromptKind } from '../../../src/gateway/offers/prompt.ts';
import type { ResourceKind } from '../../../src/gateway/offers/resource.ts';
import { ADDS, defineTool, READS, type Tool, type ToolResult } from '../../../src/gateway/tool.ts';
import { limits } from '../../../src/limits/service.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const PICTURE = { mimeType: 'image/png', data: PIXEL };
const OUTPUT = z.object({ said: z.string() });
type Said = ToolResult<z.input<typeof OUTPUT>>;

const said = (text: string): Said => ({ structured: { said: text }, text });

/** A tool without arguments. */
function plainTool(name: string, description: string, handle: () => Said): Tool {
  const input = z.strictObject({});
  return defineTool({
    name,
    title: name,
    description,
    input,
    output: OUTPUT,
    annotations: READS,
    example: {},
    access: 'account',
    handle,
  });
}

/** A tool that tells of its steps, with pauses in which a client can hear of each. */
function steppingTool(name: string): Tool {
  return defineTool({
    name,
    title: name,
    description: 'Tells how far it is',
    input: z.strictObject({}),
    output: OUTPUT,
    annotations: READS,
    example: {},
    access: 'account',
    async handle(_args, _session, { progress }) {
      for (const done of [0, 50, 100]) {
        progress?.(done, 100, 'steps');
        // A timer may fire up to a millisecond early, and a note within the pause is left out.
        await setTimeout(2 * limits.progressPauseMs);
      }
      return said('All steps are done.');
    },
  });
}

/** A tool that asks the person at the client, where the client offers that. */
function askingTool(name: string, question: (message: string) => Question, withMessage = false): Tool {
  const input = z.strictObject({ message: z.string().optional() });
  return defineTool({
    name,
    title: name,
    description: 'Asks the person at the client',
    input: withMessage ? input : z.strictObject({}),
    output: OUTPUT,
    annotations: ADDS,
    example: {},
    access: 'account',
    async handle(args, _session, { ask }) {
      if (ask === undefined) return said('This client asks nobody.');
      const { message = 'Please answer' } = args as z.output<typeof input>;
      const { action, content } = await ask(question(message));
      return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}, state-ok`);
    },
  });
}

function form(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): Question['requestedSchema'] {
  return { type: 'object', properties, required };
}

const titled = (...names: string[]) => names.map((title, index) => ({ const: `value${index + 1}`, title }));
const OPTIONS = ['option1', 'option2', 'option3'];

const ENUMS = form({
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
});

const DEFAULTS = form({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});

const WHO = form({ name: { type: 'string' } }, ['name']);

export const fixtureTools: readonly Tool[] = [
  plainTool('test_simple_text', 'Answers with a text', () => said('This is a simple text response for testing.')),
  plainTool('test_embedded_resource', 'Answers with a text and a resource', () => ({
    ...said('Embedded resource:'),
    resource: { uri: 'test://embedded-resource', json: { test: 'data' } },
  })),
  plainTool('test_image_content', 'Answers with a picture', () => ({ ...said('A picture:'), picture: PICTURE })),
  plainTool('test_multiple_content_types', 'Answers with a text, a picture and a resource', () => ({
    ...said('Multiple content types test:'),
    picture: PICTURE,
    resource: { uri: 'test://mixed-content-resource', json: { test: 'data', value: 123 } },
  })),
  steppingTool('test_tool_with_progress'),
  plainTool('test_error_handling', 'Always refuses', () => {
    throw invalidField('nothing', 'This tool intentionally returns an error for testing');
  }),
  plainTool('test_logging_tool', 'Logs nothing to the client', () => said('Nothing was logged to the client.')),
  askingTool('test_elicitation', (message) => ({ name: 'answer', message, requestedSchema: WHO }), true),
  askingTool('test_elicitation_sep1034_defaults', (message) => ({
    name: 'answer',
    message,
    requestedSchema: DEFAULTS,
  })),
  askingTool('test_elicitation_sep1330_enums', (message) => ({ name: 'answer', message, requestedSchema: ENUMS })),
  askingTool('test_streaming_elicitation', (message) => ({ name: 'answer', message, requestedSchema: WHO })),
  askingTool('test_input_required_result_elicitation', () => ({
    name: 'user_name',
    message: 'What is your name?',
    requestedSchema: WHO,
  })),
  ...['request_state', 'tampered_state'].map((name) =>
    askingTool(`test_input_required_result_${name}`, () => ({
      name: 'confirm',
      message: 'Please confirm',
      requestedSchema: form({ ok: { type: 'boolean' } }, ['ok']),
    })),
  ),
];

/** A resource with a URI of its own. */
function oneResource(uri: string, content: Awaited<ReturnType<ResourceKind['read']>>): ResourceKind {
  return {
    template: uri,
    name: uri,
    title: uri,
    description: `The resource ${uri}`,
    mimeType: content.mimeType,
    madeFrom: [],
    listedFrom: [],
    mark: () => uri,
    list: () => ({ items: [{ uri, name: uri, mimeType: content.mimeType }], cursor: undefined }),
    read: () => content,
  };
}

export const fixtureResources: readonly ResourceKind[] = [
  oneResource('test://static-text', {
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  }),
  oneResource('test://static-binary', { mimeType: 'image/png', blob: PIXEL }),
  oneResource('test://watched-resource', { mimeType: 'text/plain', text: 'It never changes.' }),
  {
    ...oneResource('test://template/{id}/data', { mimeType: 'application/json', text: '' }),
    list: () => ({ items: [], cursor: undefined }),
    read: (_accountId, { id = '' }) => ({
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }),
  },
];

const argument = (name: string) => ({ name, description: `The argument ${name}`, required: true });
const prompt = (name: string, ...names: string[]): PromptItem => {
  return { name, title: name, description: `The prompt ${name}`, arguments: names.map(argument) };
};

export const fixturePrompts: readonly PromptKind[] = [
  {
    madeFrom: [],
    listedFrom: [],
    list: () => [prompt('test_simple_prompt'), prompt('test_prompt_with_arguments', 'arg1', 'arg2')],
    text: (_accountId, name, { arg1 = '', arg2 = '' }) =>
      name === 'test_simple_prompt'
        ? 'This is a simple prompt for testing.'
        : `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    complete: (_accountId, _argument, value) => ['testValue1', 'testValue2'].filter((one) => one.startsWith(value)),
  },
];
