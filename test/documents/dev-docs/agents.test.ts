/** Several agents write to the same documents at once, and the hub is killed in between: no write is lost or mixed. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, structured, structuredOf } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { seed } from '../../support/seed.ts';
import { type Doc, newKey, type ReadDoc } from './support.ts';

type Mode = 'replace' | 'append' | 'prepend';

/** A write that was sent, and the version that it was answered with; undefined: no answer came. */
interface Write {
  readonly docId: number;
  readonly mode: Mode;
  readonly token: string;
  version: number | undefined;
}

const AGENTS = 4;
/** Shared out evenly: no document gets as many writes as versions are kept, so that every step can be looked at. */
const WRITES_EACH = 22;
const DOCS = 2;
let hub: Hub;
let key: string;

beforeAll(async () => {
  hub = await startHub();
  key = await newKey(hub);
});

afterAll(async () => {
  await hub.stop();
});

async function send(write: Write): Promise<void> {
  const args = { id: write.docId, mode: write.mode, content: write.token };
  // A hub that is killed answers nothing; what it did with the write is seen afterwards.
  const reply = await callTool(hub, 'update_dev_doc', args, key).catch(() => undefined);
  if (reply === undefined) return;
  write.version = structuredOf<{ doc: Doc }>(reply).doc.version;
}

const join = (mode: Mode, current: string, token: string) =>
  ({ replace: token, append: current + token, prepend: token + current })[mode];

/** Each step from one version to the next is one of the writes; each answered write is the step that it was told. */
async function checkSteps(docId: number, writes: readonly Write[]): Promise<void> {
  const get = (version: number) => structured<ReadDoc>(hub, 'get_dev_doc', { id: docId, version }, key);
  const { versions = [] } = await structured<ReadDoc>(hub, 'get_dev_doc', { id: docId, include_versions: true }, key);
  let before = (await get(1)).doc.content;
  const left = new Set(writes);
  for (let version = 2; version <= versions.length; version += 1) {
    const after = (await get(version)).doc.content;
    const step = [...left].find(({ mode, token }) => join(mode, before, token) === after);
    expect([version, step], `version ${version} is one of the writes`).not.toEqual([version, undefined]);
    if (step?.version !== undefined) expect(step.version).toBe(version);
    if (step !== undefined) left.delete(step);
    before = after;
  }
  expect([...left].filter(({ version }) => version !== undefined)).toEqual([]);
}

test(`[DOC-2, OPS-2] append, prepend and replace by several agents at once, with the hub killed in between, are steps of one list (seed ${seed})`, async () => {
  const modes = fc.constantFrom<Mode>('append', 'prepend', 'append', 'prepend', 'replace');
  const plan = fc.array(modes, { minLength: WRITES_EACH, maxLength: WRITES_EACH });
  const plans = fc.sample(plan, { seed, numRuns: AGENTS });
  const docIds: number[] = [];
  for (let n = 0; n < DOCS; n += 1) {
    const { doc } = await structured<{ doc: Doc }>(hub, 'create_dev_doc', { title: `${n}`, content: '[start]' }, key);
    docIds.push(doc.id);
  }
  const writes: Write[] = [];
  const agents = plans.map(async (steps, agent) => {
    for (const [index, mode] of steps.entries()) {
      const write: Write = {
        docId: docIds[(agent + index) % DOCS] ?? 0,
        mode,
        token: `[${agent}.${index}]`,
        version: undefined,
      };
      writes.push(write);
      await send(write);
    }
  });
  await expect.poll(() => writes.length, { timeout: 30_000 }).toBeGreaterThan((AGENTS * WRITES_EACH) / 2);
  await hub.kill();
  await Promise.all(agents);
  hub = await startHub({ dataFolder: hub.dataFolder });
  const again = plans.map(async (steps, agent) => {
    for (const [index, mode] of steps.slice(0, DOCS).entries()) {
      const write: Write = { docId: docIds[index] ?? 0, mode, token: `[again ${agent}.${index}]`, version: undefined };
      writes.push(write);
      await send(write);
    }
  });
  await Promise.all(again);
  for (const docId of docIds) {
    await checkSteps(
      docId,
      writes.filter((write) => write.docId === docId),
    );
  }
  expect(writes.filter(({ version }) => version !== undefined).length).toBeGreaterThan((AGENTS * WRITES_EACH) / 3);
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true, problems: [] });
});

test('[DOC-2] of several agents that expect the same version one writes, and the others are told the version', async () => {
  const { doc } = await structured<{ doc: Doc }>(hub, 'create_dev_doc', { title: 'race', content: '' }, key);
  for (let round = 1; round <= 5; round += 1) {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, agent) => {
        const args = { id: doc.id, content: `${round}.${agent} `, mode: 'append', expected_version: round };
        return callTool(hub, 'update_dev_doc', args, key);
      }),
    );
    const refused = replies.filter(({ error }) => error !== undefined);
    expect(refused).toHaveLength(7);
    for (const { error } of refused) {
      expect(error).toMatchObject({ code: -32006, data: { expected_version: round, current_version: round + 1 } });
    }
  }
  const read = await structured<ReadDoc>(hub, 'get_dev_doc', { id: doc.id }, key);
  expect(read.doc.content).toMatch(/^(\d\.\d ){5}$/);
});
