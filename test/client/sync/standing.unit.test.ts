/** How a folder stands, in one word: a row for each rule. */
import { expect, test } from 'vitest';
import { exitCodeOfStanding, type FolderStanding, promptOf, stateOf } from '../../../src/client/sync/watch/standing.ts';

const WELL: FolderStanding = {
  folder: '/notes',
  vault: 'notes',
  hub: 'https://cairn.example.org',
  device: 'laptop',
  pid: 1,
  watch_since: '2026-11-26T09:00:00.000Z',
  last_sync: '2026-11-26T09:00:01.000Z',
  hub_away: null,
  trouble: null,
  is_paused: false,
  up: { files: 0, bytes: 0 },
  down: { files: 0, bytes: 0 },
  conflicts: [],
  conflict_sides: {},
  held: {},
  held_from_hub: {},
  problems: {},
};
const conflicts = ['a.md'];
const held = { 'a.md': 'deleted' } as const;
const full = { 'a.md': 'The disk is full (ENOSPC).' };

test.each([
  ['all is well', {}, 'ready', 0, ''],
  ['before the first sync', { last_sync: null }, 'starting', 0, 'starting'],
  ['files on their way', { up: { files: 3, bytes: 9 }, down: { files: 1, bytes: 0 } }, 'syncing', 0, '↑3↓1'],
  ['the hub is away', { hub_away: 'The hub is down.' }, 'hub away', 0, 'hub away'],
  ['paused, whatever else', { is_paused: true, conflicts }, 'paused', 3, 'paused'],
  ['a conflict', { conflicts }, 'conflict', 3, '1 conflict'],
  ['conflicts', { conflicts: ['a', 'b'] }, 'conflict', 3, '2 conflicts'],
  ['the guard comes before a conflict', { held, conflicts }, 'guard', 3, '1 held'],
  ['changes of the hub are held', { held_from_hub: held }, 'guard', 1, '1 held'],
  ['a full disk comes before a conflict', { problems: full, conflicts }, 'disk full', 3, 'disk full'],
  ['a full disk', { problems: full }, 'disk full', 1, 'disk full'],
  ['what waits for a person comes before the hub', { conflicts, hub_away: 'down' }, 'conflict', 3, '1 conflict'],
  ['a file that cannot be synced', { problems: { 'a:b': 'Rename it.' } }, 'problem', 1, '1 not synced'],
  ['a problem while the hub is away', { problems: { 'a:b': '' }, hub_away: 'down' }, 'hub away', 1, 'hub away'],
  ['a problem while it is paused', { problems: { 'a:b': '' }, is_paused: true }, 'paused', 1, 'paused'],
  ['an error that passes', { trouble: 'The folder cannot be read now.' }, 'problem', 1, '0 not synced'],
] as const)('[SYN-36] a folder stands: %s', (_, more, state, code, prompt) => {
  const standing = { ...WELL, ...more };
  expect([stateOf(standing), exitCodeOfStanding(standing), promptOf(standing)]).toEqual([state, code, prompt]);
});
