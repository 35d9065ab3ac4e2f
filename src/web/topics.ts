/** Declares the topics that a page can depend on, and the tables of each. */
import { keys } from '../accounts/records.ts';
import { auditEvents } from '../audit/records.ts';
import { devDocs } from '../documents/dev-docs/records.ts';
import { handoffs } from '../documents/handoffs/records.ts';
import { papers } from '../documents/papers/records.ts';
import { blobs, credentials } from '../mirror/records.ts';
import type { AnyTable } from '../store/table.ts';
import { vaultHeads, vaults } from '../sync/log/records.ts';
import { categories, tasks } from '../tasks/records.ts';

const TABLES = {
  tasks: [tasks, categories],
  // Each change of a vault writes its head.
  vaults: [vaults, vaultHeads],
  documents: [devDocs, handoffs, papers],
  mirror: [blobs, credentials],
  account: [keys, auditEvents],
} as const satisfies Record<string, readonly AnyTable[]>;

export type Topic = keyof typeof TABLES;

export const topicOfTable: ReadonlyMap<AnyTable, Topic> = new Map(
  Object.entries(TABLES).flatMap(([topic, tables]) => tables.map((table) => [table, topic as Topic])),
);
