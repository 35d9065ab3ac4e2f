/**
 * Finds documents by title and text: dev docs through their index, and a limited number of the newest handoffs and
 * papers.
 */
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import { foldForSearch, lineWith } from './fold.ts';

type Sources = Pick<Capabilities, 'docs' | 'handoffs' | 'papers'>;

export interface FoundDocument {
  readonly path: string;
  readonly title: string;
  /** Kind of the document, with its category or project. */
  readonly label: string;
  /** The matching line; undefined: the title matched. */
  readonly line: string | undefined;
}

export interface FoundDocuments {
  readonly documents: readonly FoundDocument[];
  /** False: the search stopped at its limit. */
  readonly complete: boolean;
}

export async function findDocuments(sources: Sources, accountId: string, text: string): Promise<FoundDocuments> {
  const wanted = foldForSearch(text);
  const docs = await sources.docs.list(accountId, { search: text, limit: limits.searchRows });
  const documents: FoundDocument[] = docs.docs.map(({ id, title, category }) => {
    return { path: `/documents/docs/${id}`, title, label: `dev doc · ${category}`, line: undefined };
  });
  const budget: { documents: number; bytes: number } = {
    documents: limits.searchDocumentsMax,
    bytes: limits.searchBytesMax,
  };
  for (const one of candidates(sources, accountId)) {
    if (budget.documents === 0 || budget.bytes <= 0 || documents.length >= limits.searchRows) {
      return { documents, complete: false };
    }
    budget.documents -= 1;
    budget.bytes -= one.bytes;
    const inTitle = foldForSearch(`${one.label} ${one.title}`).includes(wanted);
    const line = inTitle ? undefined : lineWith(one.read(), wanted);
    if (inTitle || line !== undefined) documents.push({ path: one.path, title: one.title, label: one.label, line });
    if (turns.isOver) await turns.next(accountId);
  }
  return { documents, complete: docs.cursor === undefined };
}

interface Candidate {
  readonly path: string;
  readonly title: string;
  readonly label: string;
  readonly bytes: number;
  readonly read: () => string | undefined;
}

function* candidates({ handoffs, papers }: Sources, accountId: string): Generator<Candidate> {
  for (const cursors = pagesOf(); ; ) {
    const page = handoffs.page(accountId, { limit: limits.documentRowsPerPage, cursor: cursors.cursor });
    for (const { id, project, topic, size_bytes: bytes } of page.handoffs) {
      const read = () => handoffs.read(accountId, id).content;
      yield { path: `/documents/handoffs/${id}`, title: topic, label: `handoff · ${project}`, bytes, read };
    }
    if (page.cursor === undefined) break;
    cursors.cursor = page.cursor;
  }
  for (const cursors = pagesOf(); ; ) {
    const place = cursors.cursor === undefined ? {} : { cursor: Number(cursors.cursor) };
    const query = { include_content: false, limit: limits.documentRowsPerPage, ...place };
    const page = papers.list(accountId, query);
    for (const { paper } of page.papers) {
      const { id, title, size_bytes: bytes } = paper;
      const read = () => papers.get(accountId, id).content;
      yield { path: `/documents/papers/${id}`, title, label: 'paper', bytes, read };
    }
    if (page.cursor === undefined) break;
    cursors.cursor = page.cursor;
  }
}

function pagesOf(): { cursor: string | undefined } {
  return { cursor: undefined };
}
