/** Opens the capabilities of documents over a store of their own, with their bin, under a clock that the test moves. */

import { verifyActivity } from '../../src/activity/verify.ts';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { allTables } from '../../src/compose/tables.ts';
import { DocumentBin } from '../../src/documents/bin.ts';
import { devDocKind } from '../../src/documents/dev-docs/kind.ts';
import { devDocs } from '../../src/documents/dev-docs/records.ts';
import { DevDocs } from '../../src/documents/dev-docs/service.ts';
import { devDocThings } from '../../src/documents/dev-docs/thing.ts';
import { handoffKind } from '../../src/documents/handoffs/kind.ts';
import { Handoffs } from '../../src/documents/handoffs/service.ts';
import { paperKind } from '../../src/documents/papers/kind.ts';
import { Papers } from '../../src/documents/papers/service.ts';
import { verifyDocuments } from '../../src/documents/verify.ts';
import { Indexer } from '../../src/search/indexer.ts';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { Store } from '../../src/store/store.ts';
import { unbounded } from './quotas.ts';
import { temporaryFolder } from './temporary-folder.ts';

const START_MS = Date.parse('2026-11-20T12:00:00.000Z');
export const DAY_MS = 24 * 3600 * 1000;

export interface DocumentDesk {
  readonly store: Store;
  readonly docs: DevDocs;
  readonly handoffs: Handoffs;
  readonly papers: Papers;
  /** Categories that the account has; they belong to another capability. */
  readonly categories: Set<number>;
  readonly bin: DocumentBin;
  readonly clock: { ms: number };
  /** What verify finds. */
  problems(): readonly string[];
  close(): Promise<void>;
}

interface DeskOptions {
  readonly keepDays?: number;
  /** False: dev docs are searched without an index. */
  readonly isIndexed?: boolean;
}

export function openDesk({ keepDays, isIndexed = true }: DeskOptions = {}): DocumentDesk {
  const store = new Store({ folder: temporaryFolder(), tables: allTables });
  const actors = new ActorRegistry(store);
  const clock = { ms: START_MS };
  const categories = new Set<number>();
  const indexer = new Indexer({ reader: store, kinds: [devDocThings], now: () => clock.ms });
  store.watch(
    devDocs,
    (rows) => () => indexer.note(rows.map(([accountId, id]) => [String(accountId), 'doc', String(id)])),
  );
  const options = { store, actors, quotas: unbounded, now: () => clock.ms };
  const services = {
    docs: new DevDocs({
      ...options,
      mayContain: async (query) => (isIndexed ? await indexer.containing({ ...query, kind: 'doc' }) : undefined),
    }),
    handoffs: new Handoffs({ ...options, keepDays, mayPurge: () => true }),
    papers: new Papers({ ...options, categoryExists: (_reader, _accountId, id) => categories.has(id) }),
  };
  return {
    store,
    clock,
    ...services,
    categories,
    bin: new DocumentBin({ store, actors, services }),
    problems() {
      const reader = new CheckedReader(store);
      const parts = [
        verifyDocuments(reader, devDocKind),
        verifyDocuments(reader, handoffKind),
        verifyDocuments(reader, paperKind),
        verifyActivity(reader, { isAccount: () => true }),
      ];
      return [...reader.problems, ...parts.flatMap(({ problems }) => problems)];
    },
    async close() {
      await actors.drain();
      await store.close();
    },
  };
}
