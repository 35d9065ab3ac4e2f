/** Reads and writes the ids by which agents name things: `cairn://…`, or the path of a file in the primary vault. Pure. */
import { invalidField } from '../../common/fault.ts';
import { devDocThings } from '../../documents/dev-docs/thing.ts';
import { DOC_TEMPLATE } from '../../documents/dev-docs/uri.ts';
import { handoffThings } from '../../documents/handoffs/thing.ts';
import { PAPER_TEMPLATES } from '../../documents/papers/thing.ts';
import { matchTemplate, numberOf, placeOfUri, type UriForm } from '../../ids/uri.ts';
import { fileThings } from '../../sync/tools/thing.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { taskThings } from '../../tasks/thing.ts';

export interface DocTitle {
  readonly category: string;
  readonly title: string;
}

/** A dev doc by its number, or by its name. */
export type DocName = { readonly id: number } | DocTitle;

export interface HandoffTopic {
  readonly project: string;
  readonly topic: string;
}

/** One handoff by its number, or the latest of a topic. */
export type HandoffRef = { readonly id: number } | HandoffTopic;

export type ThingPlace =
  | { readonly kind: 'task'; readonly id: number }
  | ({ readonly kind: 'doc' } & DocName)
  | ({ readonly kind: 'handoff' } & HandoffRef)
  /** Undefined id: a paper to be created. */
  | { readonly kind: 'paper'; readonly id: number | undefined }
  | { readonly kind: 'conflict'; readonly id: string }
  /** `vault`: an id or a name; undefined: the primary one. `path` is empty for the whole vault. */
  | { readonly kind: 'file'; readonly vault: string | undefined; readonly path: string };

/** A place in a vault. */
export type PlaceInVault = Extract<ThingPlace, { kind: 'file' }>;

const SCHEME = 'cairn://';
const CONFLICT_TEMPLATE = 'cairn://conflicts/{id}';

/** What the templates of each kind name; beside them a paper to be created, conflicts, and whole vaults. */
const FORMS: readonly UriForm<ThingPlace>[] = [
  {
    templates: taskThings.templates,
    placeOf: ({ id }) => numbered(id, (number) => ({ kind: 'task', id: number })),
  },
  {
    templates: devDocThings.templates,
    placeOf: ({ id, category = '', title = '' }) =>
      id === undefined ? { kind: 'doc', category, title } : numbered(id, (number) => ({ kind: 'doc', id: number })),
  },
  {
    templates: handoffThings.templates,
    placeOf: ({ id, project = '', topic = '' }) =>
      id === undefined
        ? { kind: 'handoff', project, topic }
        : numbered(id, (number) => ({ kind: 'handoff', id: number })),
  },
  { templates: ['cairn://papers/new'], placeOf: () => ({ kind: 'paper', id: undefined }) },
  {
    templates: PAPER_TEMPLATES,
    placeOf: ({ id }) => numbered(id, (number) => ({ kind: 'paper', id: number })),
  },
  { templates: [CONFLICT_TEMPLATE], placeOf: ({ id = '' }) => ({ kind: 'conflict', id }) },
  {
    templates: fileThings.templates,
    placeOf: ({ vault = '', path = '' }) => ({ kind: 'file', vault, path }),
  },
  {
    templates: ['cairn://vaults/{vault}', 'cairn://vaults/{vault}/'],
    placeOf: ({ vault = '' }) => ({ kind: 'file', vault, path: '' }),
  },
];

/** `#7`, as lists show a task, is one. Throws Refusal `invalid_fields` (`field`) for an id of no known form. */
export function thingPlaceOf(id: string, field = 'id'): ThingPlace {
  if (!id.startsWith(SCHEME)) {
    const task = numberOf(/^#(\d+)$/.exec(id)?.[1]);
    if (task !== undefined) return { kind: 'task', id: task };
    if (OTHER_SCHEME.test(id))
      throw invalidField(
        field,
        `${field} must be a cairn:// id or a path in the primary vault, not a URL${meantByUrl(id)}`,
      );
    return { kind: 'file', vault: undefined, path: id.replace(/^\/+/, '') };
  }
  const place = placeOfUri(FORMS, id);
  if (place !== undefined) return place;
  const forms = FORMS.flatMap(({ templates }) => templates);
  // Of the kind that the id begins with, if one does.
  const [kind = SCHEME] = /^cairn:\/\/[a-z]+\//.exec(id) ?? [];
  const like = forms.filter((form) => form.startsWith(kind));
  const others = like.length > 0 && kind !== SCHEME ? '' : ', or a path in the primary vault';
  const shown = (like.length > 0 ? like : forms).join(', ');
  throw invalidField(field, `${field} must be one of ${shown}${others}; search and list show ids`);
}

const OTHER_SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;

/** What a URL was meant to name: a file whose page it is, as search shows, or a path. */
function meantByUrl(url: string): string {
  const page = URL.canParse(url) ? new URL(url) : undefined;
  const [, vault] = /\/vaults\/([^/]+)\/file$/.exec(page?.pathname ?? '') ?? [];
  const path = page?.searchParams.get('path');
  if (vault !== undefined && path != null) return `; did you mean ${fileUri(vault, path)}?`;
  const [, local] = /^file:\/\/\/*(.+)$/i.exec(url) ?? [];
  return local === undefined ? '; search and list show ids' : `, such as ${local}`;
}

/** The category that `cairn://docs/{category}/` names, all of it; undefined: the id is no such one. */
export function docCategoryOf(id: string): string | undefined {
  const { category } = matchTemplate('cairn://docs/{category}', id.replace(/\/$/, '')) ?? {};
  return category === undefined || (numberOf(category) !== undefined && !id.endsWith('/')) ? undefined : category;
}

/**
 * Where a dev doc is to go: `cairn://docs/{category}/{title}` and `cairn://docs/{category}/`, also without their
 * beginning, or another title. Throws Refusal `invalid_fields` (`to`).
 */
export function docNamesIn(to: string): Partial<DocTitle> {
  if (!to.includes('/')) return { title: to };
  const inDocs = to.startsWith(SCHEME) ? to : `${SCHEME}docs/${encodeURI(to.replace(/^docs\/(?=.+\/)/, ''))}`;
  const category = inDocs.endsWith('/') ? docCategoryOf(inDocs) : undefined;
  if (category !== undefined) return { category };
  const names = matchTemplate(DOC_TEMPLATE, inDocs);
  if (names !== undefined) return names;
  throw invalidField('to', 'to must be cairn://docs/{category}/{title}, cairn://docs/{category}/ or a new title');
}

function numbered(id: string | undefined, placeOf: (number: number) => ThingPlace): ThingPlace | undefined {
  const number = numberOf(id);
  return number === undefined ? undefined : placeOf(number);
}

export function conflictUri(id: string): string {
  return CONFLICT_TEMPLATE.replace('{id}', id);
}
