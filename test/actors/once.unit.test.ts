/** A decision with an idempotency key: once, in its own commit, within bounds. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OnceCalls, planOnce } from '../../src/actors/once/calls.ts';
import { keyHeads, onceResults, onceTables, usedKeys } from '../../src/actors/once/records.ts';
import { usedKeySweep } from '../../src/actors/once/sweep.ts';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { Refusal } from '../../src/common/fault.ts';
import { limits } from '../../src/limits/service.ts';
import { recordCodec } from '../../src/store/codec.ts';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const things = defineTable<[accountId: string, id: number], { readonly text: string }>('things', recordCodec(1), {
  account: 0,
});
const NOW = Date.parse('2026-11-26T12:00:00Z');

let store: Store;
let actors: ActorRegistry;
let once: OnceCalls;
let nowMs: number;

beforeEach(() => {
  nowMs = NOW;
  store = new Store({ folder: temporaryFolder(), tables: [...onceTables, things] });
  actors = new ActorRegistry(store);
  once = new OnceCalls({ store, sealer: createSealer(Buffer.alloc(32, 1)), now: () => nowMs });
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

/** Adds a thing, and says which and when. */
const add = (text: string, accountId = 'a') =>
  actors.account(accountId).once(['add', text], (batch) => {
    const id = [...batch.keys(things, [accountId])].length + 1;
    batch.put(things, [accountId, id], { text });
    return { id, text, map: new Map([['at', nowMs]]) };
  });

const keyed = <T>(key: string, request: readonly unknown[], work: () => Promise<T>, accountId = 'a') =>
  once.run({ accountId, key, field: 'Idempotency-Key', request }, work);

const all = (accountId = 'a') => store.range(things, { prefix: [accountId] }).map(({ value }) => value.text);

test('[EVENT-2] a repeat gets what the first request decided, whatever its result is made of', async () => {
  const first = await keyed('k', [1], () => add('x'));
  nowMs += 1000;
  expect(await keyed('k', [1], () => add('x'))).toEqual(first);
  expect(await keyed('"k"', [1], () => add('x'))).toEqual(first);
  expect(all()).toEqual(['x']);
  expect((await keyed('k2', [1], () => add('x'))).id).toBe(2);
  expect((await add('x')).id).toBe(3);
  expect((await keyed('k', [1], () => add('x', 'b'), 'b')).id).toBe(1);
});

test('[EVENT-2] the same key with another request is refused, and an unusable key names where it was sent', async () => {
  await keyed('k', [1], () => add('x'));
  await expect(keyed('k', [2], () => add('y'))).rejects.toMatchObject({ fault: { kind: 'key_reused' } });
  for (const key of ['', '""', 'ä', 'a b', 'x'.repeat(limits.idempotencyKeyCharsMax + 1)]) {
    await expect(keyed(key, [1], () => add('y'))).rejects.toMatchObject({
      fault: { kind: 'invalid_fields', fields: { 'Idempotency-Key': [expect.any(String)] } },
    });
  }
  expect(all()).toEqual(['x']);
});

test('[EVENT-2] while a request runs, its repeat is told to wait; a refused request leaves no trace', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const first = keyed('k', [1], async () => {
    await gate;
    return await add('x');
  });
  await expect(keyed('k', [1], () => add('x'))).rejects.toMatchObject({ fault: { kind: 'key_busy' } });
  open();
  expect((await first).id).toBe(1);
  const refusal = new Refusal({ kind: 'not_found', what: 'no such thing' });
  const refuse = () =>
    actors.account('a').once(['refuse'], () => {
      throw refusal;
    });
  await expect(keyed('r', [1], refuse)).rejects.toBe(refusal);
  expect((await keyed('r', [2], () => add('y'))).id).toBe(2);
});

test('[EVENT-2] a request of several decisions that was cut off goes on with those that it had not made', async () => {
  const cut = keyed('k', [1], async () => {
    await add('x');
    await add('x');
    throw new Error('cut off');
  });
  await expect(cut).rejects.toThrow('cut off');
  const whole = await keyed('k', [1], async () => {
    // Another order, and one that is not asked for at first: each decision is known by what it is.
    const y = await add('y');
    return [y.id, (await add('x')).id, (await add('x')).id, (await add('x')).id];
  });
  expect(whole).toEqual([3, 1, 2, 4]);
  expect(all()).toEqual(['x', 'x', 'y', 'x']);
});

test('[EVENT-2] a repeat acts on what the first request read, also when that was cut off between two decisions', async () => {
  let read = 'one';
  let cut = true;
  const request = () =>
    keyed('k', [1], () =>
      planOnce(
        ['copies'],
        () => read,
        async (text) => {
          const first = await add(text);
          if (cut) throw new Error('cut off');
          return [first.text, (await add(`${text} again`)).text];
        },
      ),
    );
  await expect(request()).rejects.toThrow('cut off');
  [read, cut] = ['two', false];
  expect(await request()).toEqual(['one', 'one again']);
  expect(await request()).toEqual(['one', 'one again']);
  expect(all()).toEqual(['one', 'one again']);
});

test('[EVENT-2] a plan of which nothing was decided is made anew, and the next one of its name has its place', async () => {
  let read = 'stale';
  const request = () =>
    keyed('k', [1], async () => {
      for (;;) {
        try {
          return await planOnce(
            ['edit'],
            () => read,
            async (text) => {
              read = 'fresh';
              if (text === 'stale') throw new Error('stale');
              return await add(text);
            },
          );
        } catch {}
      }
    });
  const first = await request();
  read = 'other';
  expect(await request()).toEqual(first);
  expect(all()).toEqual(['fresh']);
  expect(await planOnce(['edit'], () => 'no key', add)).toMatchObject({ text: 'no key' });
});

test('[EVENT-2] a decision of a vault of the account happens once, and not one of another account', async () => {
  const write = (accountId: string) => actors.vault('v').once(['write'], () => ({ at: nowMs }), { accountId });
  const first = await keyed('k', [1], () => write('a'));
  const other = await keyed('o', [1], () => write('b'));
  nowMs += 1;
  expect(await keyed('k', [1], () => write('a'))).toEqual(first);
  expect(await keyed('o', [1], () => write('b'))).not.toEqual(other);
});

test('[EVENT-2] what is kept is sealed, is forgotten after a day, and stays within bounds', async () => {
  await keyed('k', [1], () => add('a secret'));
  const [row] = store.range(onceResults, { prefix: ['a'] });
  expect(Buffer.from(row?.value.sealed ?? []).toString('latin1')).not.toContain('secret');
  const sweep = usedKeySweep({ store, actors, now: () => nowMs });
  nowMs = NOW + limits.idempotencyKeyHours * 3_600_000;
  expect(await sweep.run()).toBe(0);
  nowMs += 1;
  await keyed('later', [1], () => add('z'));
  expect(await sweep.run()).toBe(1);
  expect(store.range(usedKeys, { prefix: ['a'] })).toHaveLength(1);
  expect(store.get(keyHeads, ['a'])).toMatchObject({ keys: 1, number: 2 });
  const large = 'x'.repeat(limits.usedKeyBytesMax / 2);
  for (let at = 0; at < 3; at += 1) await keyed(`large ${at}`.replace(' ', '-'), [at], () => add(large + at));
  const head = store.get(keyHeads, ['a']);
  expect(head?.bytes).toBeLessThanOrEqual(limits.usedKeyBytesMax);
  expect(store.range(onceResults, { prefix: ['a'] })).toHaveLength(head?.keys ?? 0);
  expect((await keyed('large-2', [2], () => add(`${large}2`))).id).toBe(5);
});
