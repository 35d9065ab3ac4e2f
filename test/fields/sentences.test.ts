/** Every kind of mistake, at every door: the same sentences of ours, all wrong fields at once, never the library's words. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accessToken,
  argumentSchemas,
  callTool,
  mirrorTool,
  modern,
  post,
  repliesOf,
  replyOf,
  textOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Errors = Record<string, string[]>;

/** What zod's sentences look like, in this and earlier versions. */
const LIBRARY = [
  /Too (small|big)/i,
  /Invalid (input|string|option|key|element|date|email|value|discriminator|union|ISO|enum)/i,
  /Unrecognized/i,
  /Expected (string|number|int|boolean|object|array|record|one of)/i,
  /received/i,
  /[<>]=?\s?\d/,
  /to (be|have|match|include|start|end) /,
  /pattern/i,
  /zod/i,
  /NaN|undefined/,
];

let hub: Hub;
let key: string;
let bearer: Record<string, string>;

beforeAll(async () => {
  hub = await startHub();
  const owner = await account(hub);
  key = owner.mcp_key;
  bearer = { Authorization: `Bearer ${await accessToken(hub, owner.email)}`, 'Content-Type': 'application/json' };
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const rest = (method: string, path: string, body?: unknown): Promise<Answer> =>
  call(hub, path, { method, headers: bearer, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

/** The sentences of a REST answer; its one sentence must be all of them. */
function restErrors(answer: Answer): Errors {
  const { error, errors } = answer.json() as { error: string; errors: Errors };
  expect([answer.status, error]).toEqual([422, Object.values(errors).flat().join('; ')]);
  return errors;
}

/** Holds the sentences against what the library would say. */
function expectOwnWords(told: string): void {
  for (const words of LIBRARY) expect(told).not.toMatch(words);
}

/** The mistake at both doors of a tool, and in the MCP dialect. */
async function expectToolErrors(name: string, args: unknown, errors: Errors): Promise<void> {
  const message = Object.values(errors).flat().join('; ');
  expectOwnWords(message);
  const { error } = await callTool(hub, name, args, key);
  expect(error).toEqual({ code: -32602, message, data: { field: Object.keys(errors)[0], errors } });
  const mirrored = await mirrorTool(hub, name, args, withKey(key));
  expect(restErrors(mirrored)).toEqual(errors);
  expect(mirrored.json()).toMatchObject({ code: -32602, data: { field: Object.keys(errors)[0] } });
  const { body, headers } = modern('tools/call', { name, arguments: args });
  const reply = replyOf(await post(hub, body, { ...headers, ...withKey(key) }));
  expect([reply.result?.['isError'], textOf(reply)]).toEqual([true, expect.stringContaining(message)]);
}

const KNOWN = 'content, due_date, is_important, completed, category_id, kanban_status';
const NO_CATEGORY = 'category_id must be the id of one of your categories (see list_categories), or null';
const STATUSES = 'backlog, todo, in_progress, done';

test.each<[kind: string, fields: unknown, errors: Errors]>([
  ['missing', {}, { content: ['content is required'] }],
  ['empty', { content: '' }, { content: ['content must not be empty'] }],
  ['blank', { content: ' \n' }, { content: ['content must not be empty'] }],
  ['too long', { content: 'x'.repeat(10_001) }, { content: ['content must have at most 10000 characters'] }],
  ['no text', { content: 5 }, { content: ['content must be a string'] }],
  [
    'an object with a length that no operator can compare',
    { content: { length: { toString: 1, valueOf: [] } } },
    { content: ['content must be a string'] },
  ],
  ['null where it cannot be', { content: null }, { content: ['content must be a string'] }],
  ['half a character', { content: '\ud800' }, { content: ['content must be well-formed Unicode'] }],
  ['no truth value', { content: 'a', completed: 'yes' }, { completed: ['completed must be true or false'] }],
  ['no number', { content: 'a', category_id: 'home' }, { category_id: [NO_CATEGORY] }],
  ['a fraction', { content: 'a', category_id: 1.5 }, { category_id: [NO_CATEGORY] }],
  ['out of range', { content: 'a', category_id: 0 }, { category_id: [NO_CATEGORY] }],
  ['unknown elsewhere', { content: 'a', category_id: 4711 }, { category_id: [NO_CATEGORY] }],
  [
    'a bad choice',
    { content: 'a', kanban_status: 'later' },
    { kanban_status: [`kanban_status must be one of ${STATUSES}; did you mean backlog?`] },
  ],
  [
    'a misspelt choice',
    { content: 'a', kanban_status: 'doen' },
    { kanban_status: [`kanban_status must be one of ${STATUSES}; did you mean done?`] },
  ],
  [
    'a day that is not there',
    { content: 'a', due_date: '2026-02-30' },
    { due_date: ['due_date must be a date like 2026-11-21, or null'] },
  ],
  [
    'a date in another form',
    { content: 'a', due_date: 'tomorrow' },
    { due_date: ['due_date must be a date like 2026-11-21, or null'] },
  ],
  [
    'a number for a date',
    { content: 'a', due_date: 20261121 },
    { due_date: ['due_date must be a date like 2026-11-21, or null'] },
  ],
  ['unknown', { content: 'a', zzzzzzzz: 1 }, { zzzzzzzz: [`zzzzzzzz is not a known field; known fields: ${KNOWN}`] }],
  [
    'unknown, and the name of what every object has',
    { content: 'a', constructor: 1 },
    { constructor: [`constructor is not a known field; known fields: ${KNOWN}`] },
  ],
  [
    'unknown, with an odd name',
    { content: 'a', 'x\ny "z" of something': 1 },
    { 'x\ny "z" of something': [`"x\\ny \\"z\\" of something" is not a known field; known fields: ${KNOWN}`] },
  ],
  ['misspelt', { content: 'a', conten: 1 }, { conten: ['conten is not a known field; did you mean content?'] }],
  [
    'several at once',
    { content: '', due_date: 'soon', is_important: 1, is_importent: true },
    {
      content: ['content must not be empty'],
      due_date: ['due_date must be a date like 2026-11-21, or null'],
      is_important: ['is_important must be true or false'],
      is_importent: ['is_importent is not a known field; did you mean is_important?'],
    },
  ],
  [
    'wrong by itself, and another that names what is not there',
    { content: '', category_id: 99 },
    { content: ['content must not be empty'], category_id: [NO_CATEGORY] },
  ],
])('[NET-5, TOOL-5] a task with a field that is %s', async (_kind, fields, errors) => {
  await expectToolErrors('create_task', fields, errors);
  const answer = await rest('POST', '/api/tasks', fields);
  expect(restErrors(answer)).toEqual(errors);
});

test('[TOOL-5] a change names what is wrong with its id, its fields and what they name at once', async () => {
  const category = { category_id: [NO_CATEGORY] };
  await expectToolErrors(
    'update_task',
    { id: 0, content: '', category_id: 99 },
    {
      id: ['id must be a number returned by list_tasks'],
      content: ['content must not be empty; omit it instead'],
      ...category,
    },
  );
  await expectToolErrors(
    'update_paper',
    { id: 0, title: '', category_id: 99 },
    {
      id: ['id must be a number returned by list_papers'],
      title: ['title must not be empty; omit it instead'],
      ...category,
    },
  );
  await expectToolErrors('create_paper', { category_id: 99 }, { title: ['title is required'], ...category });
});

test.each<[string, unknown]>([
  ['a list', []],
  ['a text', 'content'],
  ['a number', 5],
])('[NET-5, RPC-2] fields that are %s are refused by the name of the whole', async (_kind, given) => {
  const { error } = await callTool(hub, 'create_task', given, key);
  expect(error).toMatchObject({ code: -32602 });
  expectOwnWords(error?.message ?? '');
  const said = 'body must be a JSON object';
  expect(restErrors(await rest('POST', '/api/tasks', given))).toEqual({ body: [said] });
});

const LIMIT = ['limit must be between 1 and 500'];
const LIMIT_TYPE = ['limit must be a whole number between 1 and 500'];

test.each<[string, unknown, Errors]>([
  ['list_tasks', { limit: 0 }, { limit: LIMIT }],
  ['list_tasks', { limit: 501 }, { limit: LIMIT }],
  ['list_tasks', { limit: 1e300 }, { limit: LIMIT }],
  ['list_tasks', { limit: 'five' }, { limit: LIMIT_TYPE }],
  ['list_tasks', { due_from: '21.11.2026' }, { due_from: ['due_from must be a date like 2026-11-21'] }],
  [
    'list_tasks',
    { due_from: '2026-12-02', due_to: '2026-12-01', created_from: '2026-12-02', created_to: '2026-12-01' },
    { due_to: ['due_to must not be before due_from'], created_to: ['created_to must not be before created_from'] },
  ],
  [
    'list_tasks',
    { timezone: 'Mars/Olympus', search: '', limt: 5 },
    {
      search: ['search must not be empty; omit it instead'],
      timezone: ['timezone must be an IANA name such as Europe/Berlin or Asia/Seoul'],
      limt: ['limt is not a known field; did you mean limit?'],
    },
  ],
  ['list_categories', { limit: 5 }, { limit: ['limit is not a known field; known fields: none'] }],
  ['sync_pull', { paths: [] }, { paths: ['paths must not be empty; omit it instead'] }],
  [
    'sync_pull',
    { paths: ['a', 5, null] },
    { 'paths.1': ['paths.1 must be a string'], 'paths.2': ['paths.2 must be a string'] },
  ],
  ['sync_pull', { paths: '[a' }, { paths: ['paths must be a list, such as ["[a"]'] }],
  [
    'signup_and_get_key',
    { email: 'a' },
    { email: ['email must have at least 3 characters'], password: ['password is required'] },
  ],
])('[TOOL-5] %s with %j', expectToolErrors);

test.each<[string, string, unknown, Errors]>([
  [
    'GET',
    '/api/tasks?page=0&per_page=101&completed=maybe&sort_by=dew_date&due_date_from=x&perpage=5',
    undefined,
    {
      page: [expect.stringMatching(/^page must be between 1 and \d+$/) as unknown as string],
      per_page: ['per_page must be between 1 and 100'],
      completed: ['completed must be true or false'],
      sort_by: [expect.stringMatching(/^sort_by must be one of .*; did you mean due_date\?$/) as unknown as string],
      due_date_from: ['due_date_from must be a date like 2026-11-21'],
      perpage: ['perpage is not a known field; did you mean per_page?'],
    },
  ],
  [
    'GET',
    '/api/tasks?due_date_from=2026-12-02&due_date_to=2026-12-01',
    undefined,
    { due_date_to: ['due_date_to must not be before due_date_from'] },
  ],
  [
    'POST',
    '/api/categories',
    { name: 'a\nb', color: 'red', position: -1, colour: 1 },
    {
      name: ['name must have only printable characters'],
      color: ['color must be # and six hex digits, or null'],
      position: ['position must be between 0 and 1000000'],
      colour: ['colour is not a known field; did you mean color?'],
    },
  ],
  ['POST', '/api/categories', { name: '' }, { name: ['name must not be empty'] }],
  [
    'POST',
    '/api/papers',
    { title: 't'.repeat(201), content: 1, published: 'yes', tilte: 'x' },
    {
      title: ['title must have at most 200 characters'],
      content: ['content must be a string'],
      published: ['published must be true or false'],
      tilte: ['tilte is not a known field; did you mean title?'],
    },
  ],
  [
    'GET',
    '/api/papers?limit=x&cursor=y&published=1',
    undefined,
    {
      limit: ['limit must be a whole number between 1 and 100'],
      cursor: ['cursor must come from an earlier answer of this list; omit it for the first page'],
      published: ['published must be true or false'],
    },
  ],
])('[NET-5] %s %s %j is refused in the words of the tools', async (method, path, body, errors) => {
  const found = restErrors(await rest(method, path, body));
  expect(found).toEqual(errors);
  for (const sentence of Object.values(found).flat()) expectOwnWords(sentence);
});

test('[TOOL-5] each argument of each tool, given in wrong ways, is named by a sentence of ours', async () => {
  const wrong = [null, 'x', '', 'x'.repeat(40_000), 5, -1, 1.5, 1e300, true, [], [5], {}, { x: 5 }];
  let refused = 0;
  for (const [name, schema] of await argumentSchemas(hub)) {
    for (const field of Object.keys(schema['properties'] as object)) {
      const calls = wrong.map((value, id) => toolRequest(id, name, { [field]: value, no_such_field: 1 }));
      for (const { error } of repliesOf(await post(hub, calls, withKey(key)))) {
        expect([name, field, error?.code]).toEqual([name, field, -32602]);
        const { message = '' } = error ?? {};
        expect(message).toContain('no_such_field is not a known field');
        expectOwnWords(message);
        if (message.split('; ').some((sentence) => sentence.startsWith(`${field} must`))) refused += 1;
      }
    }
  }
  expect(refused).toBeGreaterThan(500);
});

test('[CLI-1] the command line passes the same sentence on', async () => {
  const environment = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() };
  const { code, stderr } = await runCairn(['call', 'create_task', '--content='], environment);
  expect(code).toBe(1);
  expect(stderr).toContain('content must not be empty');
  expectOwnWords(stderr);
});
