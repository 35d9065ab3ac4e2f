/**
 * Plans a pull of dev docs: the changes after a moment. The plan is made from index rows; each line is made when it is
 * sent.
 *
 * A plan names versions, and versions never change. So a pull is a snapshot without holding one open, its length is
 * known before the first byte, and a slow reader costs only the plan. If a version is dropped during the pull (after 50
 * newer ones), the response ends early, which its length shows; the client pulls again.
 */

import { z } from 'zod';
import { type FieldErrors, refuseFields } from '../../common/fault.ts';
import type { ByteRun } from '../../http/reply/byte-run.ts';
import { EndedEarly } from '../../http/reply/ended-early.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { readInstant } from '../../time/iso-time.ts';
import { isFromTheFuture } from '../../time/truth.ts';
import { readText } from '../texts.ts';
import { filterCategory } from './categories.ts';
import { declaredDoc } from './declared.ts';
import { departureOf } from './departures.ts';
import { devDocChanges, devDocHeads, devDocs } from './records.ts';
import { changeScope } from './rules.ts';

export interface PullRequest {
  readonly category?: string | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface DocPull {
  readonly docs: ByteRun;
  readonly deleted: ByteRun;
  /** Documents and what is gone, in the order of their changes. */
  readonly all: ByteRun;
  readonly docCount: number;
  readonly deletedCount: number;
  /** Of those deleted, the ones that moved to another category. */
  readonly movedCount: number;
  /** Size of all texts in bytes. */
  readonly sizeBytes: number;
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** A document that a client must remove. */
export const deletedDocSchema = z.object({
  type: z.literal('deleted'),
  id: z.int().positive(),
  title: z.string(),
  category: z.string(),
  deleted_at: z.string().describe('ISO 8601 UTC'),
  moved_to: z.string().optional().describe('Its new category, when it left the pulled one'),
});

/**
 * A planned line: the part before the text, and the version whose text follows. Without a text, the head is the whole
 * line.
 */
interface Line {
  readonly head: string;
  readonly bytes: number;
  readonly text?: { readonly id: number; readonly version: number };
}

/**
 * Plans at most `limits.devDocPullMax` lines. Throws Refusal `invalid_fields` when the category is unknown, or `since`
 * or `cursor` is invalid.
 */
export function planPull(store: Store, accountId: string, request: PullRequest, nowMs: number): DocPull {
  const { category, errors } = filterCategory(store, accountId, request.category);
  const askedMs = readPosition(request, errors);
  // A position beyond the newest change is of a clock that was wrong and has been mended since: start again.
  const newestMs = store.get(devDocHeads, [accountId])?.changed_ms ?? 0;
  const afterMs = askedMs > newestMs && isFromTheFuture(askedMs, nowMs) ? 0 : askedMs;
  const isFirst = request.since === undefined && request.cursor === undefined;
  const lines: Line[] = [];
  let [reachedMs, sizeBytes, movedCount, hasMore] = [afterMs, 0, 0, false];
  const gone = (of: z.input<typeof deletedDocSchema>) => lines.push(toLine(`${JSON.stringify(of)}\n`));
  // Later pulls of a category also tell what left it.
  const scope = changeScope(isFirst ? category : undefined);
  const rows = { prefix: [accountId, scope], beyond: afterMs, limit: limits.devDocPullMax + 1 };
  for (const [index, { key, value: id }] of store.range(devDocChanges, rows).entries()) {
    // Counts rows, not lines: skipped rows count too.
    if (index === limits.devDocPullMax) {
      hasMore = true;
      break;
    }
    reachedMs = key[2];
    const doc = store.get(devDocs, [accountId, id]);
    if (doc === undefined) throw new Error(`the order of changes refers to dev doc ${id}, which does not exist`);
    if (category !== undefined && doc.category !== category) {
      const left = departureOf(store, accountId, doc, category, afterMs);
      if (left === undefined) continue;
      const { title, at } = left;
      if (doc.deleted_at === null) movedCount += 1;
      const how = doc.deleted_at === null ? { deleted_at: at, moved_to: doc.category } : { deleted_at: doc.deleted_at };
      gone({ type: 'deleted', id, title, category, ...how });
      continue;
    }
    if (doc.deleted_at !== null) {
      const { title, category: from, deleted_at } = doc;
      // A client without documents has nothing to delete.
      if (!isFirst) gone({ type: 'deleted', id, title, category: from, deleted_at });
      continue;
    }
    const head = `${JSON.stringify({ type: 'doc', ...declaredDoc.show(doc) }).slice(0, -1)},"content":`;
    const text = { id, version: doc.version };
    lines.push({ head, bytes: Buffer.byteLength(head) + doc.json_bytes + TAIL.length, text });
    sizeBytes += doc.size_bytes;
  }
  const docs = lines.filter(({ text }) => text !== undefined);
  const deleted = lines.filter(({ text }) => text === undefined);
  return {
    docs: runOfLines(store, accountId, docs),
    deleted: runOfLines(store, accountId, deleted),
    all: runOfLines(store, accountId, lines),
    docCount: docs.length,
    deletedCount: deleted.length,
    movedCount,
    sizeBytes,
    cursor: String(reachedMs),
    hasMore,
  };
}

const TAIL = '}\n';

function toLine(head: string): Line {
  return { head, bytes: Buffer.byteLength(head) };
}

function runOfLines(store: Store, accountId: string, lines: readonly Line[]): ByteRun {
  return {
    bytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
    open() {
      let next = 0;
      return () => {
        const line = lines[next];
        next += 1;
        if (line?.text === undefined) return line && Buffer.from(line.head);
        const { id, version } = line.text;
        const text = readText(store, { accountId, space: 'docs', id }, version);
        if (text === undefined) throw new EndedEarly('a version was deleted while it was pulled');
        return Buffer.from(`${line.head}${JSON.stringify(text)}${TAIL}`);
      };
    },
  };
}

/** Returns the time of the change after which the pull begins, in milliseconds since 1970. */
function readPosition({ since, cursor }: PullRequest, earlier: FieldErrors): number {
  const sinceMs = since === undefined ? 0 : readInstant(since);
  const isCursor = cursor === undefined || /^\d{1,15}$/.test(cursor);
  refuseFields({
    ...earlier,
    ...(sinceMs === undefined
      ? { since: ['since must be an ISO 8601 time with its zone, such as 2026-11-20T20:18:57.123Z'] }
      : {}),
    ...(isCursor
      ? {}
      : { cursor: ['cursor must come from an earlier answer of this tool; omit it for the first page'] }),
    ...(since !== undefined && cursor !== undefined ? { cursor: ['send since or cursor, not both'] } : {}),
  });
  return cursor === undefined ? (sinceMs ?? 0) : Number(cursor);
}
