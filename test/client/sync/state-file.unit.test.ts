/** The state of a synced folder on the disk: what was remembered is read again, whatever was cut off. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { NameMap } from '../../../src/client/sync/base/name-map.ts';
import { newState } from '../../../src/client/sync/base/state.ts';
import { readState, writeState } from '../../../src/client/sync/base/state-file.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { type FolderPath, OWN_FOLDER } from '../../../src/client/sync/folder/path.ts';
import { isOver } from '../../../src/client/sync/plan/guard.ts';
import { limits } from '../../../src/limits/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function newFolder() {
  const root = temporaryFolder();
  mkdirSync(join(root, OWN_FOLDER));
  return { root, folder: new SyncedFolder(root), state: newState('http://127.0.0.1:1', 'v_0000000000000000') };
}

const records = (root: string) => {
  const [name = ''] = readdirSync(join(root, OWN_FOLDER)).filter((one) => one.startsWith('records.'));
  return join(root, OWN_FOLDER, name);
};
const [before, after] = ['before.txt', 'after.txt'] as FolderPath[] as [FolderPath, FolderPath];
const file = (letter: string) => ({ sha256: letter.repeat(64), executable: false, storedMs: 7 });

test('[SYN-25] what was sent after a line that a power cut tore is remembered', () => {
  const { root, folder, state } = newFolder();
  writeState(folder, state);
  const store = new StateStore(folder, state);
  store.rememberSent([[before, 'a'.repeat(64)]]);
  appendFileSync(records(root), '{"sent":[["torn.txt",["bbbb');
  store.rememberSent([[after, 'c'.repeat(64)]]);
  expect([...(readState(root)?.sent.keys() ?? [])]).toEqual([before, after]);
});

test('[SYN-26] a save writes what changed, and nothing when nothing did; the whole state is written when it was outgrown', async () => {
  const { root, folder, state } = newFolder();
  const store = new StateStore(folder, state);
  // A state of waits alone, and of nothing.
  await store.save();
  expect(readState(root)?.waits.size).toBe(0);
  store.wait(after, { kind: 'conflict', remote: 'r', local: null, conflictId: 'c', reason: 'why' });
  writeState(folder, { ...state, waits: store.waits });
  expect(readState(root)?.waits.get(after)).toMatchObject({ kind: 'conflict' });
  expect(store.refresh()).toBe(true);
  const many = Array.from({ length: 5000 }, (_, at) => `f${at}` as FolderPath);
  for (const path of many) store.agree(path, file('a'));
  await store.save();
  const whole = statSync(records(root)).size;
  await store.save();
  expect(statSync(records(root)).size).toBe(whole);
  store.agree(before, file('b'));
  store.wait(after, { kind: 'push', remote: null, local: null, conflictId: null, reason: 'It is too large.' });
  store.pulledTo('cursor');
  await store.save();
  expect(statSync(records(root)).size - whole).toBeLessThan(1000);
  const read = () => readState(root);
  expect(read()).toMatchObject({ cursor: 'cursor' });
  expect([read()?.base.get(before), read()?.base.size, [...(read()?.waits.keys() ?? [])]]).toEqual([
    file('b'),
    5001,
    [after],
  ]);
  const first = records(root);
  for (let round = 0; round < 5; round += 1) {
    for (const path of many) store.agree(path, file('cdefg'[round] ?? ''));
    await store.save();
  }
  expect([
    records(root) === first,
    existsSync(first),
    statSync(records(root)).size < 4 * whole + limits.clientRecordsBytes,
  ]).toEqual([false, false, true]);
  expect([read()?.base.get('f7' as FolderPath), read()?.base.size]).toEqual([file('g'), 5001]);
});

test('[SYN-25] a state whose records are damaged or gone is told, and not taken for an empty one', async () => {
  const { root, folder, state } = newFolder();
  const store = new StateStore(folder, state);
  store.agree(before, file('a'));
  await store.save();
  const text = readFileSync(records(root), 'utf8');
  const path = records(root);
  for (const damaged of [text.slice(0, -5), text.replace('[', '!'), '']) {
    writeFileSync(path, damaged);
    expect(() => readState(root)).toThrow('is damaged');
  }
  rmSync(path);
  expect(() => readState(root)).toThrow('is damaged');
  // The process that knows it writes it again.
  await store.save();
  expect(readState(root)?.base.get(before)).toEqual(file('a'));
});

test('[SYN-25] the two earlier forms of a state are read, with what was sent since, and replaced by the next save', async () => {
  const { root, folder } = newFolder();
  const head = {
    server: 'http://127.0.0.1:1',
    vault_id: 'v_1',
    device_id: 'd',
    cursor: 'c',
    clock: { ms: 1, counter: 0, node: 'n' },
  };
  const seen = { bytes: 1, modifiedMs: 2, changedMs: 3, inode: 4, hashedMs: 5 };
  const wait = { kind: 'push', remote: null, local: 'x', conflictId: null, reason: 'why' };
  const second = {
    ...head,
    version: 2,
    inode: 9,
    only: ['a/'],
    base: [
      [before, { ...file('a'), seen }],
      ['__proto__', file('b')],
    ],
    waits: [['w', wait]],
    foreign: [['x:', 'no']],
    sent: [['s', ['q', null]]],
  };
  const at = (name: string) => join(root, OWN_FOLDER, name);
  writeFileSync(at('state.json'), JSON.stringify({ ...head, version: 1, base: { [before]: file('a') } }));
  expect(readState(root)?.base.get(before)).toEqual(file('a'));
  writeFileSync(at('state.json'), JSON.stringify(second));
  writeFileSync(at('sent.jsonl'), `${JSON.stringify(['s2', 'z'])}\n${JSON.stringify([after, 'k', 'agreed'])}\n["torn`);
  const read = readState(root);
  if (read === undefined) throw new Error('no state');
  expect(read.base.get(after)).toEqual({ sha256: 'k' });
  const store = new StateStore(folder, read);
  expect(store.refresh()).toBe(false);
  await store.save();
  expect([existsSync(at('sent.jsonl')), readState(root)]).toEqual([false, read]);
  expect([...read.sent]).toEqual([
    ['s', new Set(['q', null])],
    ['s2', new Set(['z'])],
  ]);
});

test('[SYN-25] a state that another process wrote is read again, and its lines are added to', async () => {
  const { root, folder, state } = newFolder();
  const [one, two] = [new StateStore(folder, state), new StateStore(new SyncedFolder(root), state)];
  await one.save();
  expect([two.refresh(), two.refresh()]).toEqual([true, false]);
  two.agree(before, file('a'));
  await two.save();
  // Under way beside the other process: it is not lost, and the state of the other is read before the next sync.
  one.rememberSent([[after, 'c'.repeat(64)]]);
  const read = readState(root);
  expect([read?.base.get(before), [...(read?.sent.keys() ?? [])]]).toEqual([file('a'), [after]]);
  expect([one.refresh(), one.base.get(before), one.sent.has(after)]).toEqual([true, file('a'), true]);
});

test('[SYN-35] each change of a folder is forgotten once it is over, whatever came or moved in between', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { root, folder, state } = newFolder();
  const fromMs = Date.now();
  const store = new StateStore(folder, state);
  const at = (minutes: number) => vi.setSystemTime(fromMs + minutes * 60_000);
  const left = (one: StateStore) => {
    one.forgetOver((change) => isOver(change, Date.now()));
    return [...one.recent.keys()];
  };
  const moved = 'moved.txt' as FolderPath;
  store.noteRecent(before, 'rewritten', 'sent');
  at(10);
  store.noteRecent(after, 'deleted', 'received');
  expect(left(store)).toEqual([before, after]);
  // It is as old as before under its new name.
  store.countMove(before, moved, store.recent.get(before));
  at(16);
  expect(left(store)).toEqual([after]);
  store.noteRecent(before, 'created', 'sent');
  await store.save();
  at(26);
  const read = new StateStore(folder, readState(root) ?? state);
  expect([left(store), left(read)]).toEqual([[before], [before]]);
  // A clock that was set back.
  at(1);
  store.noteRecent(moved, 'created', 'sent');
  at(17);
  expect(left(store)).toEqual([before]);
  at(32);
  expect(left(store)).toEqual([]);
});

test('[CLI-2] records find names of another spelling', () => {
  const names = new NameMap(['a', 'A', 'b', 'ß'].map((name) => [name as FolderPath, 1]));
  const others = (...some: string[]) => some.map((name) => names.others(name));
  expect(others('a', 'A', 'B', 'ss', 'b')).toEqual([['A'], ['a'], ['b'], ['ß'], []]);
  names.set('A' as FolderPath, 2).delete('a' as FolderPath);
  expect(others('a', 'A')).toEqual([['A'], []]);
  names.delete('A' as FolderPath);
  expect(others('a')).toEqual([[]]);
});
