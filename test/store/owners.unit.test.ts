/** Who may write which rows: a decision that writes a row of another owner, or reads past its batch, fails whole. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { allTables } from '../../src/compose/tables.ts';
import { recordCodec } from '../../src/store/codec.ts';
import { HUB, type Owners, SWEEP, type Writer } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Row {
  readonly of: string;
}

const codec = recordCodec<Row>(1);
const byKey = defineTable<[accountId: string, name: string], Row>('by_key', codec, { account: 0 });
const byLaterKey = defineTable<[ms: number, accountId: string], Row>('by_later_key', codec, { account: 1 });
const byMember = defineTable<[hash: string], Row>('by_member', codec, { account: { member: 'of' } });
const founded = defineTable<[accountId: string], Row>('founded', codec, { account: 0, directory: 'new' });
const ofVault = defineTable<[vaultId: string], Row>('of_vault', codec, { vault: 0 });
const ofNobody = defineTable<[name: string], Row>('of_nobody', codec, {});
const tables = [byKey, byLaterKey, byMember, founded, ofVault, ofNobody];

let store: Store;
let actors: ActorRegistry;

beforeAll(() => {
  store = new Store({ folder: temporaryFolder(), tables });
  actors = new ActorRegistry(store);
});

afterAll(async () => {
  await actors.drain();
  await store.close();
});

const a: Row = { of: 'a' };
const b: Row = { of: 'b' };

test('an actor writes and removes its own rows', async () => {
  await actors.account('a').ask((batch) => {
    batch.put(byKey, ['a', 'x'], a);
    batch.put(byLaterKey, [5, 'a'], a);
    batch.put(byMember, ['h'], a);
    batch.put(founded, ['a'], a);
  });
  await actors.vault('v').ask((batch) => batch.put(ofVault, ['v'], a));
  await actors.directory().ask((batch) => batch.put(founded, ['c'], a));
  await actors.account('c').ask((batch) => batch.put(founded, ['c'], b));
  expect(store.get(founded, ['c'])).toEqual(b);
  await actors.account('a').ask((batch) => {
    batch.remove(byKey, ['a', 'x']);
    batch.remove(byLaterKey, [5, 'a']);
    batch.remove(byMember, ['h']);
  });
  expect([store.get(byKey, ['a', 'x']), store.get(byLaterKey, [5, 'a']), store.get(byMember, ['h'])]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a row of another owner cannot be put or removed, and nothing of that decision is kept', async () => {
  await actors.account('a').ask((batch) => {
    batch.put(byKey, ['a', 'kept'], a);
    batch.put(byMember, ['kept'], a);
  });
  const other = actors.account('b');
  const wrong = [
    () => other.ask((batch) => batch.put(byKey, ['a', 'y'], b)),
    () => other.ask((batch) => batch.remove(byKey, ['a', 'kept'])),
    () => other.ask((batch) => batch.put(byLaterKey, [5, 'a'], b)),
    // A row that says itself whose it is: neither may another's be made, nor be taken over, nor be removed.
    () => other.ask((batch) => batch.put(byMember, ['new'], a)),
    () => other.ask((batch) => batch.put(byMember, ['kept'], b)),
    () => other.ask((batch) => batch.remove(byMember, ['kept'])),
    // What makes accounts writes a row once, and never again.
    () => actors.directory().ask((batch) => batch.put(founded, ['a'], b)),
    () => actors.directory().ask((batch) => batch.remove(founded, ['a'])),
    () => actors.account('v').ask((batch) => batch.put(ofVault, ['v'], b)),
    () => actors.vault('a').ask((batch) => batch.put(byKey, ['a', 'y'], b)),
    () => actors.account('a').ask((batch) => batch.put(ofNobody, ['a'], a)),
    () => store.write(HUB, (batch) => batch.put(byKey, ['a', 'y'], b)),
    () => store.write(SWEEP, (batch) => batch.put(byKey, ['a', 'y'], b)),
    () => store.writeBytes([{ table: byKey, key: ['a', 'y'], bytes: codec.encode(b) }]),
  ];
  for (const write of wrong) await expect(write()).rejects.toThrow(/writes a row of \w+ that it does not own/);
  await expect(
    other.ask((batch) => {
      batch.put(byKey, ['b', 'own'], b);
      batch.put(byKey, ['a', 'y'], b);
    }),
  ).rejects.toThrow('account writes a row of by_key');
  expect(store.get(byKey, ['b', 'own'])).toBeUndefined();
  expect(store.get(byKey, ['a', 'y'])).toBeUndefined();
  expect(store.get(byMember, ['kept'])).toEqual(a);
});

test('the sweep removes rows of any owner', async () => {
  await actors.account('a').ask((batch) => batch.put(byKey, ['a', 'old'], a));
  await store.write(SWEEP, (batch) => batch.remove(byKey, ['a', 'old']));
  expect(store.get(byKey, ['a', 'old'])).toBeUndefined();
});

test('within a decision the store cannot be read, and the batch shows what earlier decisions wrote', async () => {
  const reads = [
    () => store.get(byKey, ['a', 'x']),
    () => store.range(byKey, { prefix: [] }),
    () => store.entries(byKey, { prefix: [] }),
    () => store.keys(byKey),
    () => store.keysIn(byKey, { prefix: [] }),
    () => store.lastKey(byKey),
    () => store.revision([byKey]),
    () => store.snapshot(),
  ];
  for (const read of reads) {
    const write = actors.account('a').ask((): number => {
      read();
      return 0;
    });
    await expect(write).rejects.toThrow('a decision reads the store and not its batch');
  }
  const first = actors.account('a').ask((batch) => batch.put(byKey, ['a', 'seen'], a));
  const second = actors
    .account('a')
    .ask((batch) => [
      batch.get(byKey, ['a', 'seen']),
      batch.range(byKey, { prefix: ['a'] }).map(({ key: [, name] }) => name),
      [...batch.keys(byKey, ['a'])].map(([, name]) => name),
    ]);
  await first;
  expect(await second).toEqual([a, expect.arrayContaining(['seen']), expect.arrayContaining(['seen'])]);
  expect(store.get(byKey, ['a', 'seen'])).toEqual(a);
});

test('every table of the data file has a writer, but those that only show rows of another in another form', () => {
  const kinds: readonly Writer['kind'][] = ['account', 'vault', 'directory', 'devices', 'clients', 'staging', 'hub'];
  const ownerless = allTables.filter(({ owners }: { owners: Owners }) => !kinds.some((kind) => kind in owners));
  expect(ownerless.map(({ name }) => name)).toEqual([]);
});
