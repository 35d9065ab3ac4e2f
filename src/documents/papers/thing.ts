/** Declares papers as things with an id: read by it, and searched. */
import { documentThings } from '../things.ts';
import type { PaperRecord } from './declared.ts';
import { paperKind } from './kind.ts';
import { paperUri } from './resources.ts';

export const paperThings = documentThings<PaperRecord, unknown>(paperKind, {
  kind: 'paper',
  templates: ['cairn://papers/{id}'],
  shown: ({ id, title, published, category_id }) => ({
    id: paperUri(id),
    what: published ? 'published paper' : 'draft paper',
    note: JSON.stringify(title),
    title,
    place: published ? 'published' : 'draft',
    mimeType: 'text/markdown',
    facts: { published, category_id },
  }),
});
