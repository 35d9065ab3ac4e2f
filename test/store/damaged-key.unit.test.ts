/** Damaged rows about keys: the hash key has a copy, and the proof of the master key is made again. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { bytesCodec } from '../../src/store/codec.ts';
import { metaTables } from '../../src/store/meta/meta.ts';
import { HUB, UPGRADE } from '../../src/store/owners.ts';
import { checkMasterKey, isMasterKey } from '../../src/store/sealing/key-check.ts';
import { keepHashKey, moveHashKey, openSealer } from '../../src/store/sealing/own-key.ts';
import { Store } from '../../src/store/store.ts';
import { defineUnsummedTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const stored = defineUnsummedTable<[string], Uint8Array>('meta', bytesCodec, { hub: 'any' });

async function flip(store: Store, name: string): Promise<void> {
  const bytes = Uint8Array.from(store.get(stored, [name]) as Uint8Array);
  bytes[9] = (bytes[9] ?? 0) ^ 1;
  await store.write(UPGRADE, (batch) => batch.put(stored, [name], bytes));
}

async function rekeyed() {
  const store = new Store({ folder: temporaryFolder(), tables: metaTables });
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const sealer = openSealer(store, first);
  await checkMasterKey(store, sealer);
  const secret = sealer.keyedHash('test', 'a token');
  await store.write(HUB, (batch): void => void moveHashKey(batch, first, second));
  return { store, key: second, secret };
}

test.each(['hash_key', 'hash_key_copy'])(
  '[OPS-23] tokens stay valid when the row %s is damaged, and it is mended',
  async (name) => {
    const { store, key, secret } = await rekeyed();
    await flip(store, name);
    expect(openSealer(store, key).keyedHash('test', 'a token')).toBe(secret);
    await keepHashKey(store);
    await flip(store, name === 'hash_key' ? 'hash_key_copy' : 'hash_key');
    expect(openSealer(store, key).keyedHash('test', 'a token')).toBe(secret);
    await store.close();
  },
);

test('[OPS-23] without an intact hash key the hub says that only a restore helps', async () => {
  const { store, key } = await rekeyed();
  await flip(store, 'hash_key');
  await flip(store, 'hash_key_copy');
  expect(() => openSealer(store, key)).toThrow(/meta hash_key: the checksum of the row does not match.*cairn restore/);
  await store.close();
});

test('[OPS-23] a damaged proof of the master key is made again', async () => {
  const { store, key } = await rekeyed();
  await flip(store, 'key_check');
  const sealer = openSealer(store, key);
  await checkMasterKey(store, sealer);
  expect(isMasterKey(store, sealer)).toBe(true);
  expect(isMasterKey(store, openSealer(store, randomBytes(32)))).toBe(false);
  await store.close();
});
