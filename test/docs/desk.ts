/** Opens the dev docs of a store of their own, with the bin, under a clock that the test moves. */
import { ActorRegistry } from '../../src/actors/registry.ts';
import { devDocTables } from '../../src/docs/records.ts';
import { DevDocs, forgetDoc } from '../../src/docs/service.ts';
import { verifyDevDocs } from '../../src/docs/verify.ts';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { Store } from '../../src/store/store.ts';
import { DocumentBin } from '../../src/versions/bin.ts';
import { versionTables } from '../../src/versions/records.ts';
import { temporaryFolder } from '../support/hub.ts';

const START_MS = Date.parse('2026-11-20T12:00:00.000Z');
export const DAY_MS = 24 * 3600 * 1000;

export interface Desk {
  readonly store: Store;
  readonly docs: DevDocs;
  readonly bin: DocumentBin;
  readonly clock: { ms: number };
  /** What verify finds. */
  problems(): readonly string[];
  close(): Promise<void>;
}

export function openDesk(): Desk {
  const store = new Store({ folder: temporaryFolder(), tables: [...versionTables, ...devDocTables] });
  const actors = new ActorRegistry(store);
  const clock = { ms: START_MS };
  return {
    store,
    clock,
    docs: new DevDocs({ store, actors, now: () => clock.ms }),
    bin: new DocumentBin({ store, actors, forget: { docs: forgetDoc } }),
    problems() {
      const reader = new CheckedReader(store);
      const { problems } = verifyDevDocs(reader);
      return [...reader.problems, ...problems];
    },
    async close() {
      await actors.drain();
      await store.close();
    },
  };
}
