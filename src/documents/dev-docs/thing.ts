/** Declares dev docs as things with an id: read by it, and searched. */
import { foldName } from '../rules.ts';
import { documentThings } from '../things.ts';
import type { DevDocRecord } from './declared.ts';
import { devDocKind } from './kind.ts';
import { unknownDoc } from './lookup.ts';
import { devDocTitles } from './records.ts';
import { DOC_TEMPLATE, docGroup, docUri, MEDIA_TYPES } from './uri.ts';

export const devDocThings = documentThings<DevDocRecord, unknown>(devDocKind, {
  kind: 'doc',
  templates: [DOC_TEMPLATE, 'cairn://docs/{id}'],
  named: (reader, accountId, { category = '', title = '' }) =>
    reader.get(devDocTitles, [accountId, foldName(title), 'live', foldName(category)]),
  unnamed: unknownDoc,
  shown: (doc) => ({
    id: docUri(doc),
    what: doc.content_type,
    title: doc.title,
    place: doc.category,
    group: docGroup(doc.category),
    mimeType: MEDIA_TYPES[doc.content_type],
    facts: { category: doc.category, content_type: doc.content_type },
  }),
});
