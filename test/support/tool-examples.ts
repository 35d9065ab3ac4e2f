/** Calls the example of each tool, as the document of the tool mirror shows it. */
import { GATEWAY, listTools } from './gateway.ts';
import { call } from './http.ts';
import type { Hub } from './hub.ts';

type Target = Pick<Hub, 'url'>;

/** The example of each tool. */
async function examples(hub: Target, names: readonly string[]): Promise<Map<string, Record<string, unknown>>> {
  const document = (await call(hub, `${GATEWAY}/openapi.json`)).json() as {
    paths: Record<string, { post: { requestBody: { content: Record<string, { example: Record<string, unknown> }> } } }>;
  };
  const found = names.map((name) => {
    const shown = document.paths[`${GATEWAY}/tools/${name}`]?.post.requestBody.content['application/json']?.example;
    if (shown === undefined) throw new Error(`${name} shows no example`);
    return [name, shown] as const;
  });
  return new Map(found);
}

/** Tools whose examples build on what others made, in the order in which they work. */
const FIRST = [
  'signup_and_get_key',
  'login_and_get_key',
  'create_task',
  'list_tasks',
  'update_task',
  'search',
  'fetch',
];
/** The example of this one takes away what others are about. */
const LAST = ['vault_delete'];

/** Names of tools in an order in which the examples of all work. */
export function inWorkingOrder(names: readonly string[]): string[] {
  const isBetween = (name: string) => ![...FIRST, ...LAST].includes(name);
  return [...FIRST, ...names.filter(isBetween), ...LAST];
}

/** Calls the example of every tool in an order in which all work; `run` gives the structured result of one. */
export async function eachExample(
  hub: Target,
  run: (name: string, args: Record<string, unknown>) => Promise<unknown>,
): Promise<void> {
  const names = (await listTools(hub)).map(({ name }) => name);
  const shown = await examples(hub, names);
  let made = '';
  for (const name of inWorkingOrder(names)) {
    const example = shown.get(name) ?? {};
    // Nobody can know the id of a vault before it is made.
    const result = await run(name, example['vault_id'] === undefined ? example : { ...example, vault_id: made });
    if (name === 'vault_create') made = (result as { vault_id: string }).vault_id;
  }
}
