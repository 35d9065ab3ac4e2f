/** Declares papers as things with an id: read by it, and searched. */
import type { ThingKind } from '../../ids/thing.ts';
import { documentThings } from '../things.ts';
import type { PaperRecord } from './declared.ts';
import { paperKind } from './kind.ts';
import { paperUri } from './resources.ts';
import type { CategoryExists } from './service.ts';

export const PAPER_TEMPLATES: readonly string[] = ['cairn://papers/{id}'];

export function paperThings(categoryExists: CategoryExists): ThingKind {
  return documentThings<PaperRecord, unknown>(paperKind, {
    kind: 'paper',
    templates: PAPER_TEMPLATES,
    shown({ id, title, published, category_id: category }, reader, accountId) {
      // A deleted category stays in the record while it can be restored.
      const isThere = category !== null && categoryExists(reader, accountId, category);
      return {
        id: paperUri(id),
        what: published ? 'published paper' : 'draft paper',
        note: JSON.stringify(title),
        title,
        place: published ? 'published' : 'draft',
        mimeType: 'text/markdown',
        facts: { published, category_id: isThere ? category : null },
      };
    },
  });
}
