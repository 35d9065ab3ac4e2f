/** What creating and renaming a vault does beside those that the account has. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import {
  checkVaultName,
  decideVault,
  findVaultByName,
  foldVaultName,
  newVault,
  type Vault,
} from '../../../src/sync/vaults/decision.ts';
import { refusedWith } from '../../support/refused.ts';

const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');
const vault = (name: string, protectedPaths: readonly string[] | null = null): Vault => ({
  id: `v_${name}`,
  record: newVault(name, false, protectedPaths, NOW_MS - 1000),
});
const many = (count: number) => Array.from({ length: count }, (_, at) => vault(`n${at}`));
const home = vault('Home');
const globbed = vault('Home', ['a', 'b']);

test('[SYN-18] a new vault is made now, and has the default list unless another is given', () => {
  const record = { name: 'x', is_primary: false, created_at: '2026-11-20T20:00:00.000Z', protected_paths: null };
  expect(decideVault([], 'x', undefined, NOW_MS)).toEqual({ status: 'created', record });
  expect(decideVault([home], 'x', null, NOW_MS)).toEqual({ status: 'created', record });
  expect(decideVault([home], 'x', ['*'], NOW_MS)).toEqual({
    status: 'created',
    record: { ...record, protected_paths: ['*'] },
  });
  expect(newVault('primary', true, [], NOW_MS)).toMatchObject({ is_primary: true, protected_paths: [] });
});

describe('[SYN-18] a vault of a name in use', () => {
  type Globs = readonly string[] | null | undefined;
  test.each<[title: string, before: Vault, name: string, globs: Globs, status: string]>([
    ['is given back', home, 'Home', undefined, 'existing'],
    ['is given back in another case', home, 'hOME', undefined, 'existing'],
    ['keeps its list when none is given', globbed, 'Home', undefined, 'existing'],
    ['has the default list already', home, 'Home', null, 'existing'],
    ['has this list already', globbed, 'Home', ['a', 'b'], 'existing'],
    ['gets a list', home, 'Home', ['a'], 'updated'],
    ['gets an empty list', home, 'Home', [], 'updated'],
    ['gets the default list', globbed, 'Home', null, 'updated'],
    ['gets a longer list', globbed, 'Home', ['a', 'b', 'c'], 'updated'],
    ['gets a shorter list', globbed, 'Home', ['a'], 'updated'],
    ['gets a list in another order', globbed, 'Home', ['b', 'a'], 'updated'],
  ])('%s', (_, before, name, globs, status) => {
    const record = status === 'updated' ? { ...before.record, protected_paths: globs } : before.record;
    expect(decideVault([vault('other'), before], name, globs, NOW_MS)).toEqual({ id: before.id, record, status });
  });
});

describe('[SYN-18, LIM-2] the limit of vaults', () => {
  const most = limits.vaultsMax;
  test.each<[title: string, count: number, name: string, outcome: string]>([
    ['leaves room for the last one', most - 1, 'x', 'created'],
    ['refuses one more', most, 'x', 'name'],
    ['gives back one of them', most, 'N0', 'existing'],
  ])('%s', (_, count, name, outcome) => {
    let status = '';
    const refused = refusedWith(() => {
      ({ status } = decideVault(many(count), name, undefined, NOW_MS));
    });
    if (outcome === 'name') expect(refused).toEqual({ kind: 'invalid_fields', fields: ['name'] });
    else expect(status).toBe(outcome);
  });
});

describe('[SYN-18] a vault is renamed', () => {
  test.each<[title: string, name: string, refused: boolean]>([
    ['to a new name', 'x', false],
    ['to its own name', 'Home', false],
    ['to its own name in another case', 'HOME', false],
    ['not to that of another', 'other', true],
    ['not to that of another in another case', 'OTHER', true],
  ])('%s', (_, name, refused) => {
    const outcome = refusedWith(() => checkVaultName([home, vault('other')], home.id, name));
    expect(outcome).toEqual(refused ? { kind: 'invalid_fields', fields: ['name'] } : undefined);
  });
  test('names are the same in any case and Unicode form', () => {
    expect(findVaultByName([vault('other'), vault('CAFÉ')], 'cafe\u0301')?.id).toBe('v_CAFÉ');
    expect(findVaultByName([home], 'hom')).toBeUndefined();
    expect(foldVaultName('É')).toBe('é');
  });
});
