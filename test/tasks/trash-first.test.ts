/** A change of what is not there, or in the trash, is told so before its fields are looked at. */
import { beforeAll, expect, test } from 'vitest';
import { accessToken, structured } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account;
let bearer: string;

beforeAll(async () => {
  owner = await account(hub);
  bearer = await accessToken(hub, owner.email);
});

/** What is created and removed, by its tools, and the paths of its changes. */
const KINDS = [
  ['task', { content: 'x' }, ['/api/tasks/ID']],
  ['category', { name: 'x' }, ['/api/categories/ID']],
  ['paper', { title: 'x' }, ['/api/papers/ID', '/api/papers/ID/publish']],
] as const;

const patch = async (path: string, body: object) => {
  const { status, text } = await call(hub, path, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [status, text] as const;
};

test.each(KINDS)(
  '[NET-2] a %s that is not there or in the trash comes before wrong fields',
  async (kind, fields, paths) => {
    const made = await structured<Record<string, { id: number }>>(hub, `create_${kind}`, fields, owner.mcp_key);
    const id = made[kind]?.id ?? 0;
    for (const path of paths) {
      const [here, nowhere] = [path.replace('ID', String(id)), path.replace('ID', '999')];
      expect(await patch(here, { wrong: 1 })).toEqual([422, expect.stringContaining('wrong is not a known field')]);
      expect(await patch(nowhere, { wrong: 1 })).toEqual([404, expect.stringContaining('not found')]);
      expect(await patch(nowhere, { restore: true, wrong: 1 })).toEqual([404, expect.stringContaining('not found')]);
    }
    await structured(hub, `delete_${kind}`, { id }, owner.mcp_key);
    for (const path of paths) {
      const here = path.replace('ID', String(id));
      expect(await patch(here, { wrong: 1 })).toEqual([404, expect.stringContaining('in the trash')]);
      expect(await patch(here, { restore: false })).toEqual([404, expect.stringContaining('in the trash')]);
    }
    const [first = ''] = paths;
    expect((await patch(first.replace('ID', String(id)), { restore: true, wrong: 1 }))[0]).toBe(422);
    expect((await patch(first.replace('ID', String(id)), { restore: true }))[0]).toBe(200);
  },
);
