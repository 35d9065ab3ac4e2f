/** Provides the dev docs as resources and those of two categories as prompts. */
import type { PromptKind } from '../../gateway/offers/prompt.ts';
import { beginningWith, type ResourceKind } from '../../gateway/offers/resource.ts';
import { limits } from '../../limits/service.ts';
import type { DevDocRecord } from './declared.ts';
import { devDocCounts, devDocs, devDocTitles } from './records.ts';
import type { DevDocs } from './service.ts';
import { DOC_TEMPLATE, docUri, MEDIA_TYPES } from './uri.ts';

/** Tables written when a document is created, deleted or renamed. */
const LISTED_FROM = [devDocTitles, devDocCounts];

/** Categories whose documents are offered as prompts. */
const SPOKEN = ['commands', 'skills'];

const MORE = { name: 'arguments', description: 'Replaces $ARGUMENTS, or is appended', required: false };

export function devDocResources(docs: DevDocs): ResourceKind {
  return {
    template: DOC_TEMPLATE,
    name: 'dev-docs',
    title: 'Dev docs',
    description: 'Documents for agents: CLAUDE.md, rules, skills, notes',
    madeFrom: [devDocs],
    listedFrom: LISTED_FROM,
    mark(accountId, { category, title }) {
      const { record: doc } = docs.get(accountId, { category, title });
      return `${doc.id} ${doc.version} ${doc.content_type}`;
    },
    async list(accountId, cursor, limit) {
      const page = await docs.list(accountId, { limit: Math.min(limit, limits.devDocListMax), cursor });
      return { items: page.docs.map(itemOf), cursor: page.cursor };
    },
    read(accountId, { category, title }) {
      const { record: doc, content } = docs.get(accountId, { category, title });
      return { mimeType: MEDIA_TYPES[doc.content_type], text: content };
    },
    async complete(accountId, variable, value, { category }) {
      if (variable === 'category')
        return beginningWith(
          docs.categories(accountId).map(({ name }) => name),
          value,
        );
      const page = await docs.list(accountId, { category, limit: limits.devDocListMax });
      return beginningWith(
        page.docs.map(({ title }) => title),
        value,
      );
    },
  };
}

export function devDocPrompts(docs: DevDocs): PromptKind {
  return {
    madeFrom: [],
    listedFrom: LISTED_FROM,
    async list(accountId) {
      const own = docs.categories(accountId).filter(({ name, docs: count }) => SPOKEN.includes(name) && count > 0);
      const pages = await Promise.all(
        own.map(async ({ name }) => await docs.list(accountId, { category: name, limit: limits.devDocListMax })),
      );
      return pages
        .flatMap((page) => page.docs)
        .map((doc) => ({
          name: nameOf(doc),
          title: doc.title,
          description: `The dev doc ${doc.title} of the category ${doc.category}`,
          arguments: [MORE],
        }));
    },
    text(accountId, name, { arguments: more = '' }) {
      const at = name.indexOf('/');
      const { content } = docs.get(accountId, { category: name.slice(0, at), title: name.slice(at + 1) });
      if (content.includes('$ARGUMENTS')) return content.replaceAll('$ARGUMENTS', () => more);
      return more === '' ? content : `${content}\n\n${more}`;
    },
  };
}

function itemOf(doc: DevDocRecord) {
  return { uri: docUri(doc), name: nameOf(doc), mimeType: MEDIA_TYPES[doc.content_type], size: doc.size_bytes };
}

function nameOf({ category, title }: DevDocRecord): string {
  return `${category}/${title}`;
}
