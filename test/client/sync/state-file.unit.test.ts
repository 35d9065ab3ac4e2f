/** The state of a synced folder on the disk: what was remembered is read again, whatever was cut off. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { readState, writeState } from '../../../src/client/sync/base/state-file.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { checkFolderPath, type FolderPath, OWN_FOLDER } from '../../../src/client/sync/folder/path.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function newFolder() {
  const root = temporaryFolder();
  mkdirSync(join(root, OWN_FOLDER));
  return { root, folder: new SyncedFolder(root), state: newState('http://127.0.0.1:1', 'v_0000000000000000') };
}

test('[SYN-25] what was sent after a line that a power cut tore is remembered', () => {
  const { root, folder, state } = newFolder();
  writeState(folder, state);
  const store = new StateStore(folder, state);
  const [before, after] = ['before.txt', 'after.txt'].map((name) => checkFolderPath(name) as FolderPath) as [
    FolderPath,
    FolderPath,
  ];
  store.rememberSent([[before, 'a'.repeat(64)]]);
  appendFileSync(join(root, OWN_FOLDER, 'sent.jsonl'), '["torn.txt","bbbb');
  store.rememberSent([[after, 'c'.repeat(64)]]);
  expect([...(readState(root)?.sent.keys() ?? [])]).toEqual([before, after]);
});

test('[SYN-25] a state that is stored already is not written again, unless its file is another or gone', () => {
  const { root, folder, state } = newFolder();
  const path = 'x.txt' as FolderPath;
  const first = writeState(folder, state);
  new StateStore(folder, state).rememberSent([[path, 'a'.repeat(64)]]);
  expect(writeState(folder, state, first)).toEqual(first);
  // What was sent since was answered, so it is not remembered again.
  expect(readState(root)?.sent.size).toBe(0);
  writeFileSync(join(root, OWN_FOLDER, 'state.json'), '{}');
  const again = writeState(folder, state, first);
  expect(again.stamp).not.toBe(first.stamp);
  rmSync(join(root, OWN_FOLDER, 'state.json'));
  writeState(folder, state, again);
  const next = { ...state, cursor: 'next' };
  expect(readState(root)).toMatchObject({ cursor: null });
  writeState(folder, next, again);
  expect(readState(root)).toMatchObject({ cursor: 'next' });
});
