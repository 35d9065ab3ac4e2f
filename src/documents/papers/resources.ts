/** Provides the papers as resources. */
import { beginningWith, type ResourceKind } from '../../gateway/offers/resource.ts';
import { limits } from '../../limits/service.ts';
import { paperRows, papers as paperTable } from './records.ts';
import { paperNotFound } from './rules.ts';
import type { Papers } from './service.ts';

export function paperUri(id: number): string {
  return `cairn://papers/${id}`;
}

export function paperResources(papers: Papers): ResourceKind {
  const page = (accountId: string, cursor: string | undefined, limit: number) =>
    papers.list(accountId, {
      include_content: false,
      limit: Math.min(limit, limits.paperPageMax),
      cursor: cursor === undefined ? undefined : idOf(cursor),
    });
  return {
    template: 'cairn://papers/{id}',
    name: 'papers',
    title: 'Papers',
    description: 'Drafts and published papers of the account',
    mimeType: 'text/markdown',
    madeFrom: [paperTable],
    listedFrom: [paperRows],
    mark(accountId, { id = '' }) {
      const { paper } = papers.get(accountId, idOf(id));
      return `${paper.id} ${paper.version} ${paper.title}`;
    },
    list(accountId, cursor, limit) {
      const found = page(accountId, cursor, limit);
      const items = found.papers.map(({ paper: { id, title, size_bytes: size } }) => ({
        uri: paperUri(id),
        name: title,
        mimeType: 'text/markdown',
        size,
      }));
      return { items, cursor: found.cursor };
    },
    read(accountId, { id = '' }) {
      return { mimeType: 'text/markdown', text: papers.get(accountId, idOf(id)).content ?? '' };
    },
    complete(accountId, _variable, value) {
      const found = page(accountId, undefined, limits.paperPageMax);
      return beginningWith(
        found.papers.map(({ paper }) => String(paper.id)),
        value,
      );
    },
  };
}

function idOf(text: string): number {
  const id = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw paperNotFound();
  return id;
}
