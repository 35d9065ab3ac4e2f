/** Declares dev docs as a kind of documents: unique titles, lists by category and type, the order of changes. */
import { z } from 'zod';
import { whole } from '../../archive/records.ts';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { CheckedReader } from '../../store/checked-reader.ts';
import type { Batch } from '../../store/group-commit.ts';
import { keyText } from '../../store/row-sums.ts';
import type { Reader } from '../../store/table.ts';
import { defineKind, indexRow, type KindCheck } from '../kind.ts';
import { foldName } from '../rules.ts';
import { measure } from '../texts.ts';
import { type DevDocRecord, declaredDoc } from './declared.ts';
import {
  type DevDocHead,
  devDocChanges,
  devDocCounts,
  devDocHeads,
  devDocRows,
  devDocs,
  devDocTitles,
} from './records.ts';
import { changeScope, listScope } from './rules.ts';

export const devDocKind = defineKind({
  space: 'docs',
  one: 'dev doc',
  records: devDocs,
  heads: devDocHeads,
  lastId: ({ doc_id: last }: DevDocHead) => last,
  nameOf: ({ title }: DevDocRecord) => title,
  fields: Object.keys(declaredDoc.inputs),
  keeps: limits.documentVersionsMax,
  factsOf: measure,
  rowsOf(accountId, doc: DevDocRecord) {
    const { id, category, content_type: type, changed_ms: changedMs } = doc;
    const changes = [changeScope(undefined), changeScope(category)].map((scope) =>
      indexRow(devDocChanges, [accountId, scope, changedMs], id, `wrong position in the order of changes ${scope}`),
    );
    if (doc.deleted_at !== null) return changes;
    const lists = [undefined, category].flatMap((of) => [listScope(of, undefined), listScope(of, type)]);
    return [
      ...changes,
      ...lists.map((scope) => indexRow(devDocRows, [accountId, scope, id], {}, `is not in list ${scope}`)),
      indexRow(devDocTitles, titleKey(accountId, doc, 'live'), id, 'not found by title'),
    ];
  },
  indexes: { 'lists of dev docs': devDocRows, 'changes of dev docs': devDocChanges },
  moveShared(batch, accountId, before, after) {
    const [wasLive, isLive] = [before?.record.deleted_at === null, after?.record.deleted_at === null];
    const doc = (after ?? before)?.record;
    if (doc === undefined) return;
    const [from, to] = [wasLive ? before?.record.category : undefined, isLive ? doc.category : undefined];
    if (from !== to) {
      if (from !== undefined) countLive(batch, accountId, from, -1);
      if (to !== undefined) countLive(batch, accountId, to, 1);
    }
    const isBinned = after !== undefined && !isLive;
    if ((before !== undefined && !wasLive) !== isBinned) moveBinned(batch, accountId, doc, isBinned);
  },
  checkShared: (reader, problems) => new DevDocCheck(reader, problems),
  archive: {
    section: 'docs',
    type: 'doc',
    counters: (instant) => z.strictObject({ doc_id: whole, changed_at: instant }),
    line: (instant) => declaredDoc.archivedAs('doc', instant).extend({ changed_at: instant }),
    order: ({ changed_ms: changedMs }) => changedMs,
    countersOf: (head, { id, place }) => ({
      doc_id: Math.max(head?.doc_id ?? 0, id),
      changed_at: new Date(Math.max(head?.changed_ms ?? 0, place)).toISOString(),
    }),
    headOf: ({ doc_id, changed_at: at }) => ({ doc_id, changed_ms: Date.parse(at) }),
    lineOf: ({ changed_ms: changedMs, deleted_at, ...shown }) => ({
      ...shown,
      changed_at: new Date(changedMs).toISOString(),
      deleted_at,
    }),
    read({ changed_at: changedAt, deleted_at, ...shown }, { last, head }) {
      const changedMs = Date.parse(changedAt);
      if (changedMs <= last) throw invalidField('changed_at', 'dev docs must be in the order of their last change');
      if (changedMs > head.changed_ms || shown.id > head.doc_id)
        throw invalidField('id', 'id or changed_at is above the counters of the archive');
      if (deleted_at !== null && Date.parse(deleted_at) > changedMs)
        throw invalidField('deleted_at', 'deleted_at is after changed_at, but deleting is the last change');
      return { ...shown, changed_ms: changedMs, deleted_at };
    },
    admit(batch, accountId, doc) {
      const isTaken = holderOf(batch, accountId, doc) !== undefined;
      if (doc.deleted_at === null && isTaken)
        throw invalidField('title', `${doc.category} already has a dev doc with this title`);
    },
  },
});

type TitleKey = [accountId: string, title: string, state: 'live' | 'binned', category: string];

/** Returns the key by which a live document, or the last deleted one, is found by its title. */
function titleKey(
  accountId: string,
  { title, category }: Pick<DevDocRecord, 'title' | 'category'>,
  state: 'live' | 'binned',
): TitleKey {
  return [accountId, foldName(title), state, category];
}

/** The number of the live document with these names. */
export function holderOf(
  reader: Pick<Reader, 'get'>,
  accountId: string,
  names: Pick<DevDocRecord, 'title' | 'category'>,
): number | undefined {
  return reader.get(devDocTitles, titleKey(accountId, names, 'live'));
}

function countLive(batch: Batch, accountId: string, category: string, delta: number): void {
  const docs = (batch.get(devDocCounts, [accountId, category])?.docs ?? 0) + delta;
  if (docs > 0) batch.put(devDocCounts, [accountId, category], { docs });
  else batch.remove(devDocCounts, [accountId, category]);
}

/** If several documents with the same title are in the trash, the title finds the one deleted last. */
function moveBinned(batch: Batch, accountId: string, doc: DevDocRecord, isBinned: boolean): void {
  const key = titleKey(accountId, doc, 'binned');
  if (isBinned) batch.put(devDocTitles, key, doc.id);
  else if (batch.get(devDocTitles, key) === doc.id) batch.remove(devDocTitles, key);
}

/** Checks the counts of categories, the titles, and the order of changes. */
class DevDocCheck implements KindCheck<DevDocRecord> {
  readonly #reader: CheckedReader;
  readonly #problems: string[];
  /** Live documents by account and category. */
  readonly #counts = new Map<string, number>();
  #live = 0;

  constructor(reader: CheckedReader, problems: string[]) {
    this.#reader = reader;
    this.#problems = problems;
  }

  check(name: string, accountId: string, doc: DevDocRecord): void {
    if ((this.#reader.get(devDocHeads, [accountId])?.changed_ms ?? 0) < doc.changed_ms)
      this.#problems.push(`${name}: its last change is later than that of the account`);
    if (doc.deleted_at !== null) return;
    this.#live += 1;
    const category = `${accountId} ${doc.category}`;
    this.#counts.set(category, (this.#counts.get(category) ?? 0) + 1);
  }

  finish(): void {
    this.#checkTitles();
    this.#reader.each(devDocCounts, ({ key, value }) => {
      const name = keyText(key);
      if (this.#counts.get(name) !== value.docs) this.#problems.push(`dev docs of ${name}: the count is wrong`);
      this.#counts.delete(name);
    });
    for (const name of this.#counts.keys()) this.#problems.push(`dev docs of ${name}: the count is missing`);
  }

  /** Each live document has a title row, and each title row of the trash names a deleted document with that title. */
  #checkTitles(): void {
    let found = 0;
    this.#reader.each(devDocTitles, ({ key, value }) => {
      const [accountId, title, state, category] = key;
      if (state === 'live') {
        found += 1;
        return;
      }
      const doc = this.#reader.get(devDocs, [accountId, value]);
      const isIt = doc !== undefined && doc.deleted_at !== null && doc.category === category;
      if (!isIt || foldName(doc.title) !== title)
        this.#problems.push(`title ${keyText(key)}: no deleted dev doc has this title`);
    });
    if (found !== this.#live) this.#problems.push(`titles of dev docs: ${found} rows instead of ${this.#live}`);
  }
}
