/** Whatever was done to an account: its archive makes an account whose archive is the same, and the data verifies. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account, type Credential, credential, randomCommit, upload } from '../support/mirror.ts';
import { verified } from '../support/mirror-state.ts';
import { exported, imported, type Owner, restOf, sectionsOf } from '../support/portable.ts';
import { seed } from '../support/seed.ts';
import { Device, gitShaOf, sha256Of } from '../support/sync.ts';

const RUNS = 8;
const STEPS_MAX = 120;

let from: Hub;
let to: Hub;
beforeAll(async () => {
  [from, to] = [await startHub(), await startHub()];
});
afterAll(() => Promise.all([from.stop(), to.stop()]));

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.nat({ max: 90_000 }).map((length) => '0123456789\n"é'.repeat(Math.ceil(length / 13)).slice(0, length)),
);

/** Few of each, so that the same ones come back. */
const step = fc.record({
  action: fc.nat({ max: 18 }),
  which: fc.integer({ min: 1, max: 5 }),
  path: fc.constantFrom('a.md', 'A.md', 'b', 'b/c.md', 'b/d/é.md', 'long.txt'),
  name: fc.constantFrom('one', 'Zwei', '三 😀'),
  text,
  flag: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Hand {
  readonly #owner: Owner;
  readonly #devices: readonly [Device, Device];
  readonly #rest: Awaited<ReturnType<typeof restOf>>;
  #mirror: Credential | undefined;
  /** The last hashes that were pushed, to build on or to clash with. */
  readonly #pushed = new Map<string, string>();

  constructor(owner: Owner, rest: Awaited<ReturnType<typeof restOf>>) {
    this.#owner = owner;
    this.#rest = rest;
    const laptop = new Device(from, owner.mcp_key, 'laptop');
    this.#devices = [laptop, laptop.other('phone')];
  }

  /** Does one thing; what is refused is refused. */
  async take(given: Step): Promise<void> {
    if (given.action < 6) await this.#list(given).catch(() => undefined);
    else if (given.action < 11) await this.#keep(given);
    else if (given.action === 11) await this.#blob(given);
    else await this.#file(given);
  }

  async #list({ action, which, name, text: content, flag }: Step): Promise<void> {
    const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['POST', '/api/tasks', { content, is_important: flag, due_date: flag ? `2026-12-0${which}` : null }],
      ['PATCH', `/api/tasks/${which}`, { completed: flag, category_id: which }],
      ['DELETE', `/api/tasks/${which}`],
      flag ? ['POST', '/api/categories', { name }] : ['DELETE', `/api/categories/${which}`],
      ['POST', '/api/papers', { title: name, content, published: flag, ...(flag ? { category_id: which } : {}) }],
      flag ? ['PATCH', `/api/papers/${which}`, { content, restore: true }] : ['DELETE', `/api/papers/${which}`],
    ];
    const [method, path, body] = calls[action] ?? ['GET', '/api/tasks'];
    await this.#rest(method, path, body);
  }

  async #keep({ action, which, name, text: content, flag }: Step): Promise<void> {
    const category = flag ? 'docs' : 'own';
    const [tool, args] = (
      [
        ['create_dev_doc', { title: name, content, category, create_category: true }],
        ['update_dev_doc', { id: which, content, mode: flag ? 'append' : 'replace', restore: true }],
        ['delete_dev_doc', { id: which }],
        [
          'handoff_save',
          { project: name, topic: 'Thema', content, date: `2026-11-0${which}`, ...(flag && { time: '0900' }) },
        ],
        ['update_task', { id: which, restore: true }],
      ] as const
    )[action - 6] ?? ['list_tasks', {}];
    await callTool(from, tool, args, this.#owner.mcp_key);
  }

  async #blob({ which, text: content, flag }: Step): Promise<void> {
    if (this.#mirror === undefined || (flag && which === 1)) {
      this.#mirror = await credential(from, this.#owner.mcp_key, true);
    }
    await upload(from, this.#mirror, randomCommit(), Buffer.from(`${content}.`.repeat(which)));
  }

  async #file({ action, which, path, text: content, flag }: Step): Promise<void> {
    const device = this.#devices[flag ? 0 : 1];
    const base = flag ? this.#pushed.get(path) : undefined;
    const based = base === undefined ? {} : { base_sha: base };
    if (action <= 14) {
      const bytes = Buffer.from(content);
      const asBytes = which === 5 ? { encoding: 'base64', sha256: sha256Of(bytes) } : {};
      const written = which === 5 ? bytes.toString('base64') : content;
      await device.call('sync_push', device.pushOf(path, written, { ...based, ...asBytes }));
      this.#pushed.set(path, sha256Of(bytes));
    } else if (action === 15) await device.call('sync_push', device.deleteOf(path, based));
    else if (action === 16) {
      const moved = { from_path: path, base_sha: gitShaOf(content), ...based };
      await device.call('sync_push', device.pushOf(`${path}${which}`, content, moved));
    } else if (action === 17) await device.call('sync_restore', { path, seq: which });
    else await device.call('sync_resolve_conflict', { path, keep: which > 3 ? 'yours' : 'theirs' });
  }
}

test('[OPS-13] an archive of an archived account is the same archive', { timeout: 240_000 }, async () => {
  const run = fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: STEPS_MAX, size: 'max' }), async (steps) => {
    const owner = await account(from);
    const hand = new Hand(owner, await restOf(from, owner));
    for (const taken of steps) await hand.take(taken);
    const first = await exported(from, owner.email);
    const made = await imported(to, first.folder);
    const second = await exported(to, made.email);
    expect(sectionsOf(second.folder)).toEqual(sectionsOf(first.folder));
    expect(second.manifest.blobs).toEqual(first.manifest.blobs);
    expect(await verified(to)).toMatchObject({
      code: 0,
      ok: true,
      problems: [],
      staged_contents: 0,
      staged_uploads: 0,
    });
  });
  await fc.assert(run, { numRuns: RUNS, seed, endOnFailure: true });
});
