/**
 * A field is declared in one place: in a copy of the sources each record gets one more field, in its declaration alone,
 * and no door loses it: REST, the tools, the OpenAPI document, an archive, the pages.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessToken, callTool, listTools, PASSWORD, structuredOf, textOf } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type PageClient, signedUp } from '../support/page-client.ts';
import { exported, imported, rewrite, sectionsOf } from '../support/portable.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Shown = Readonly<Record<string, unknown>> & { readonly id: number };

/** A record that has one more field in the copy. */
interface Copied {
  /** Its declaration, and the line of it that the field follows. */
  readonly file: string;
  readonly line: string;
  readonly path: string;
  /** What a new one needs. */
  readonly made: Readonly<Record<string, unknown>>;
  /** Another field that a caller changes. */
  readonly other: Readonly<Record<string, string>>;
  readonly tools: { readonly create: string; readonly update: string; readonly list: string };
  /** Member of a tool's answer: one, and all. */
  readonly members: readonly [one: string, all: string];
  readonly section: 'tasks' | 'papers' | 'docs' | 'handoffs';
  /** The page with its form, and the path that the form is sent to. */
  readonly page: (id: number) => { readonly path: string; readonly action: string };
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const FIELD = `  summary: optionalField(z.string().max(100).describe('In one line'), {
    initial: '',
    says: 'One line about it',
    example: 'An example of a summary',
    before: '',
  }),
`;

const records: readonly (readonly [name: string, record: Copied])[] = [
  [
    'tasks',
    {
      file: 'src/tasks/declared.ts',
      line: 'const taskFields = {',
      path: '/api/tasks',
      made: { content: 'a task' },
      other: { content: 'another task' },
      tools: { create: 'create_task', update: 'update_task', list: 'list_tasks' },
      members: ['task', 'tasks'],
      section: 'tasks',
      page: (id) => ({ path: `/tasks/${id}`, action: `/tasks/${id}` }),
    },
  ],
  [
    'categories',
    {
      file: 'src/tasks/declared.ts',
      line: 'const categoryFields = {',
      path: '/api/categories',
      made: { name: 'a category' },
      other: { name: 'another category' },
      tools: { create: 'create_category', update: 'update_category', list: 'list_categories' },
      members: ['category', 'categories'],
      section: 'tasks',
      page: (id) => ({ path: '/tasks/categories', action: `/tasks/categories/${id}` }),
    },
  ],
];

const sections = [...new Set(records.map(([, { section }]) => section))];

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Operation {
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Builds the copy; resolves with its command. */
function buildCopy(): string {
  const root = temporaryFolder();
  for (const name of ['src', 'workers', '.package', 'tsconfig.json', 'package.json', 'package-lock.json']) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [, { file, line }] of records) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    expect({ file, lines: text.split(`${line}\n`).length }).toEqual({ file, lines: 2 });
    writeFileSync(
      path,
      text.replace(`${line}\n`, () => `${line}\n${FIELD}`),
    );
  }
  execFileSync(process.execPath, [join(root, '.package/build.mjs')]);
  return join(root, 'dist/src/cli/cairn.js');
}

let script: string;
let hub: Hub;
let client: PageClient;
let key: string;
let bearer: string;
const EMAIL = 'owner@example.org';

beforeAll(async () => {
  script = buildCopy();
  hub = await startHub({ script });
  client = await signedUp(hub, EMAIL, PASSWORD);
  [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  bearer = await accessToken(hub, EMAIL);
}, 300_000);
afterAll(() => hub.stop());

async function send(method: string, path: string, body?: object): Promise<Shown> {
  const headers = { Authorization: `Bearer ${bearer}` };
  const sent =
    body === undefined
      ? { method, headers }
      : { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await call(hub, path, sent);
  expect({ path, status: answer.status, text: answer.text }).toMatchObject({ status: method === 'POST' ? 201 : 200 });
  return answer.json() as Shown;
}

async function tool(name: string, args: object, member: string): Promise<{ shown: unknown; text: string }> {
  const reply = await callTool(hub, name, args, key);
  return { shown: structuredOf(reply)[member], text: textOf(reply) };
}

const timesOf = ({ version, updated_at: at }: Shown) => ({ version, at: Date.parse(String(at)) });

test.each(records)('%s: REST takes, keeps, changes and shows it', async (_, { path, made, other }) => {
  const first = await send('POST', path, { ...made, summary: 'one' });
  const plain = await send('POST', path, { ...other });
  expect([first['summary'], plain['summary']]).toEqual(['one', '']);
  const one = `${path}/${first.id}`;
  const changed = await send('PATCH', one, { summary: 'two' });
  expect(changed).toEqual({ ...first, summary: 'two', ...stampsOf(changed) });
  if (first['version'] !== undefined) expect(changed['version']).toBe(Number(first['version']) + 1);
  expect(timesOf(changed).at).toBeGreaterThan(timesOf(first).at);
  expect(await send('PATCH', one, { summary: 'two' })).toEqual(changed);
  expect(await send('PATCH', one, { ...made })).toEqual(changed);
  expect(await send('GET', one)).toEqual(changed);
  const { data } = (await send('GET', path)) as unknown as { data: Shown[] };
  expect(data.map(({ id, summary }) => [id, summary])).toEqual(expect.arrayContaining([[first.id, 'two']]));
  await call(hub, one, { method: 'DELETE', headers: { Authorization: `Bearer ${bearer}` } });
  await call(hub, `${path}/${plain.id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${bearer}` } });
});

/** What a change may set besides the field. */
function stampsOf({ version, updated_at, changed_by }: Shown): object {
  return Object.fromEntries(Object.entries({ version, updated_at, changed_by }).filter(([, value]) => value));
}

test.each(records)('%s: the tools take, change and show it, also in their texts', async (_, record) => {
  const { made, tools, members } = record;
  const [one, all] = members;
  const { shown, text } = await tool(tools.create, { ...made, summary: 'by a tool' }, one);
  expect([shown, text]).toEqual([
    expect.objectContaining({ summary: 'by a tool' }),
    expect.stringContaining('by a tool'),
  ]);
  const { id } = shown as Shown;
  const changed = await tool(tools.update, { id, summary: 'changed by a tool' }, one);
  expect(changed.shown).toMatchObject({ summary: 'changed by a tool' });
  const listed = await tool(tools.list, {}, all);
  expect(listed.shown).toContainEqual(changed.shown);
  expect(listed.text).toContain('changed by a tool');
});

test.each(records)('%s: the document names it in requests, answers and examples', async (_, { path, tools }) => {
  const { paths, components } = (await call(hub, '/api/mcp/openapi.json')).json() as unknown as Document;
  /** Schemas lie once in the document; here each is where it is used. */
  const whole = (value: unknown): string =>
    JSON.stringify(value).replace(/\{"\$ref":"#\/components\/schemas\/(\w+)"\}/g, (_ref, name: string) =>
      whole(components.schemas[name]),
    );
  const [all, one] = [paths[path], paths[`${path}/{id}`]];
  for (const operation of [all?.['post'], all?.['get'], one?.['get'], one?.['patch']]) {
    const { requestBody, responses } = operation ?? { responses: {} };
    const answer = whole(responses['200'] ?? responses['201']);
    expect(answer).toContain('"summary":{"type":"string","description":"One line about it"}');
    expect(answer).toContain('"summary":"An example of a summary"');
    if (requestBody !== undefined)
      expect(whole(requestBody)).toContain('"summary":{"type":"string","maxLength":100,"description":"In one line"}');
  }
  for (const listed of await listTools(hub)) {
    if (listed.name === tools.create || listed.name === tools.update) {
      expect(listed.inputSchema).toHaveProperty('properties.summary.description', 'In one line');
    }
    if (Object.values(tools).includes(listed.name)) expect(JSON.stringify(listed.outputSchema)).toContain('"summary"');
  }
});

test.each(records)('%s: a page shows and keeps it, changes it, and undoes that', async (_, record) => {
  const { made, other, tools, members, page } = record;
  const { shown } = await tool(tools.create, { ...made, ...nameBesides(made), summary: 'for a page' }, members[0]);
  const { id } = shown as Shown;
  const { path, action } = page(id);
  await client.open(path);
  expect([client.form(action).fields.get('summary'), client.form(action).html]).toEqual([
    'for a page',
    expect.stringMatching(/<label[^>]*>Summary/),
  ]);
  const now = async () => {
    const listed = await tool(tools.list, {}, members[1]);
    return (listed.shown as Shown[]).find((one) => one.id === id);
  };
  await client.submit(action, nameBesides(other));
  expect(await now()).toMatchObject({ ...nameBesides(other), summary: 'for a page' });
  await client.open(path);
  await client.submit(action, { summary: 'from a page' });
  expect(await now()).toMatchObject({ summary: 'from a page' });
  await client.submit(action);
  expect(await now()).toMatchObject({ summary: 'for a page' });
  // An older form has no such field.
  await client.open(path);
  await client.submit(action, { summary: undefined });
  expect(await now()).toMatchObject({ summary: 'for a page' });
});

/** The same text fields with other words: some must be unique. */
function nameBesides(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, `${String(value)} on a page`]));
}

test('an archive keeps all of them, and one from before the field is imported', async () => {
  const { folder } = await exported(hub, EMAIL);
  const other = await startHub({ script });
  try {
    await imported(other, folder);
    const kept = sectionsOf((await exported(other, EMAIL)).folder);
    expect(kept).toEqual(sectionsOf(folder));
    for (const [name, { section }] of records) {
      expect([name, kept[section]]).toEqual([name, expect.stringContaining('"summary":"changed')]);
    }
    for (const section of sections) rewrite(folder, section, kept[section]?.replace(/"summary":"[^"]*",/g, '') ?? '');
    await imported(other, folder, '--email', 'before@example.org');
    const older = sectionsOf((await exported(other, 'before@example.org')).folder);
    for (const section of sections) {
      expect(older[section]).toEqual(kept[section]?.replace(/"summary":"[^"]*"/g, '"summary":""'));
    }
  } finally {
    await other.stop();
  }
}, 120_000);
