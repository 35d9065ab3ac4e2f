/** Who hears of a commit: those that watch its owner, the account of a vault, and those that watch all; one turn later. */
import { beforeEach, expect, test } from 'vitest';
import { Changes, type WrittenRows } from '../../src/live/changes.ts';
import type { RowWatcher } from '../../src/store/changes/row-watch.ts';
import { textCodec } from '../../src/store/codec.ts';
import { type AnyTable, defineTable, type Key } from '../../src/store/table.ts';

const papers = defineTable<[string, string], string>('papers', textCodec, { account: 0 });
const heads = defineTable<[string], string>('heads', textCodec, { vault: 0 });
const unwatched = defineTable<[string], string>('unwatched', textCodec, { account: 0 });

let commit: (table: AnyTable, ...keys: Key[]) => Promise<void>;
let changes: Changes;

beforeEach(() => {
  const watchers = new Map<AnyTable, RowWatcher>();
  commit = async (table, ...keys) => {
    watchers.get(table)?.(keys, [])(true);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const accountOf = (vaultId: string) => (vaultId === 'v_1' ? 'acc_1' : undefined);
  changes = new Changes({ watch: (table, watcher) => void watchers.set(table, watcher) }, [papers, heads], accountOf);
});

function hear(owner?: string): { readonly told: string[]; readonly stop: () => void } {
  const told: string[] = [];
  const note = (change: WrittenRows) => void told.push(`${change.table.name} ${change.owner} ${change.rows}`);
  return { told, stop: owner === undefined ? changes.watchAll(note) : changes.watch(owner, note) };
}

test('[WEB-8, MCP-6] a listener hears of its own rows only, counted by table', async () => {
  const [one, other] = [hear('acc_1'), hear('acc_2')];
  await commit(papers, ['acc_1', 'a'], ['acc_1', 'b'], ['acc_2', 'a']);
  await commit(unwatched, ['acc_1']);
  expect([one.told, other.told]).toEqual([['papers acc_1 2'], ['papers acc_2 1']]);
});

test('[SYN-22, WEB-8] a vault is heard by who watches it, by its account, and by who watches all', async () => {
  const [vault, account, stranger, all] = [hear('v_1'), hear('acc_1'), hear('acc_2'), hear()];
  await commit(heads, ['v_1']);
  await commit(heads, ['v_2']);
  expect([vault.told, account.told, stranger.told]).toEqual([['heads v_1 1'], ['heads v_1 1'], []]);
  expect(all.told).toEqual(['heads v_1 1', 'heads v_2 1']);
});

test('[MCP-6] who stopped is told nothing, also when it stops while others are told; the others are', async () => {
  const first = hear('acc_1');
  const stop = changes.watch('acc_1', () => stop());
  const last = hear('acc_1');
  expect(changes.listenersOf('acc_1')).toBe(3);
  await commit(papers, ['acc_1', 'a']);
  first.stop();
  await commit(papers, ['acc_1', 'a']);
  expect([first.told.length, last.told.length, changes.listenersOf('acc_1')]).toEqual([1, 2, 1]);
});

test('[MCP-6] nothing is told before the commit is over', async () => {
  const watchers: RowWatcher[] = [];
  const own = new Changes({ watch: (_table, watcher) => void watchers.push(watcher) }, [papers]);
  const told: WrittenRows[] = [];
  own.watch('acc_1', (change) => void told.push(change));
  const settle = watchers[0]?.([['acc_1', 'a']], []);
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([]);
  settle?.(true);
  expect(told).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([{ owner: 'acc_1', table: papers, rows: 1 }]);
});
