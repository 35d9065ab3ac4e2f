/**
 * Owns the pull of dev docs: what changed after a moment, planned over the rows, each line made when it is sent.
 *
 * A plan names versions, and versions never change. So a pull is one snapshot without holding one, its length is known
 * before its first byte, and a slow reader costs the plan. A version that is let go of meanwhile (50 newer ones in the
 * time of one pull) breaks the answer off, which its length shows; the client pulls again.
 */

import { type FieldErrors, refuseFields } from '../common/fault.ts';
import type { ByteRun } from '../http/reply/byte-run.ts';
import { EndedEarly } from '../http/reply/ended-early.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import { readInstant } from '../time/iso-time.ts';
import { readText } from '../versions/texts.ts';
import { filterCategory } from './categories.ts';
import { changeScope } from './indexes.ts';
import { devDocChanges, devDocs } from './records.ts';
import { docView } from './views.ts';

export interface PullRequest {
  readonly category?: string | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface DocPull {
  readonly docs: ByteRun;
  readonly deleted: ByteRun;
  /** Both, in the order of their changes. */
  readonly all: ByteRun;
  readonly docCount: number;
  readonly deletedCount: number;
  /** Of the texts. */
  readonly sizeBytes: number;
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** One line to be: what stands before the text, and which text; without one the head is all of it. */
interface Line {
  readonly head: string;
  readonly bytes: number;
  readonly text?: { readonly id: number; readonly version: number };
}

/** Plans at most `limits.devDocPullMax` lines. Refuses an unknown category, a wrong `since` or `cursor`. */
export function planPull(store: Store, accountId: string, request: PullRequest): DocPull {
  const { category, errors } = filterCategory(store, accountId, request.category);
  const afterMs = readPosition(request, errors);
  const isFirst = request.since === undefined && request.cursor === undefined;
  const lines: Line[] = [];
  let [reachedMs, sizeBytes, hasMore] = [afterMs, 0, false];
  const rows = { prefix: [accountId, changeScope(category)], beyond: afterMs, limit: limits.devDocPullMax + 1 };
  for (const [index, { key, value: id }] of store.range(devDocChanges, rows).entries()) {
    // Rows are counted, not lines: those that are passed over count too.
    if (index === limits.devDocPullMax) {
      hasMore = true;
      break;
    }
    reachedMs = key[2];
    const doc = store.get(devDocs, [accountId, id]);
    if (doc === undefined) throw new Error(`the order of changes names dev doc ${id}, which is not there`);
    if (doc.deleted_at !== null) {
      // Who has nothing yet has nothing to remove.
      if (isFirst) continue;
      const { id: docId, title, category: from, deleted_at } = doc;
      lines.push(toLine(`${JSON.stringify({ type: 'deleted', id: docId, title, category: from, deleted_at })}\n`));
      continue;
    }
    const head = `${JSON.stringify({ type: 'doc', ...docView(doc) }).slice(0, -1)},"content":`;
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

/** The change after which the pull begins. */
function readPosition({ since, cursor }: PullRequest, earlier: FieldErrors): number {
  const sinceMs = since === undefined ? 0 : readInstant(since);
  const isCursor = cursor === undefined || /^\d{1,15}$/.test(cursor);
  refuseFields({
    ...earlier,
    ...(sinceMs === undefined
      ? { since: ['since must be an ISO 8601 time with its zone, such as 2026-11-20T20:18:57.123Z'] }
      : {}),
    ...(isCursor ? {} : { cursor: ['cursor must come from an earlier answer of this tool; omit it to start again'] }),
    ...(since !== undefined && cursor !== undefined ? { cursor: ['send since or cursor, not both'] } : {}),
  });
  return cursor === undefined ? (sinceMs ?? 0) : Number(cursor);
}
