/** The pages and forms of documents: dev docs, handoffs and papers. */
import { type FieldErrors, Refusal } from '../../common/fault.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import { seeOther } from '../document.tsx';
import { CutSearch, type Problem, searchWords } from '../fields.tsx';
import { readOtherFields } from '../other-fields.tsx';
import type { MemberVisit, PageAnswer, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { textPart } from '../rendering/parts.ts';
import { wantedPart } from '../rendering/parts-nav.tsx';
import type { Renderer } from '../rendering/renderer.tsx';
import { browserOf } from '../visit.ts';
import { DocumentPage, WritePage } from './document.tsx';
import { type Kind, type KindId, kindsOf, type WrittenDocument } from './kinds.ts';
import { documentPath, kindPath, ListPage } from './list.tsx';
import { trashRoute } from './trash.tsx';

export interface DocumentOptions extends Pick<Capabilities, 'docs' | 'handoffs' | 'papers'> {
  readonly pages: Pages;
  readonly renderer: Renderer;
}

const SECTION = { section: 'documents', live: ['documents'] } as const;

export function documentRoutes(options: DocumentOptions): Route[] {
  const { pages } = options;
  const kinds = kindsOf(options);
  const bytesMax = limits.editFormBytesMax;
  return [
    pages.member('/documents', () => seeOther(kindPath('docs'))),
    trashRoute(options),
    ...kinds.flatMap((kind) => {
      const path = kindPath(kind.id);
      return [
        pages.member(path, (visit) => showList(options, visit, kinds, kind)),
        pages.member(`${path}/new`, (visit) => showForm(options, visit, kind, undefined)),
        pages.memberForm(`${path}/new`, (visit, form) => create(options, visit, kind, form), { bytesMax }),
        pages.member(`${path}/:id`, (visit) => showDocument(options, visit, kind)),
        pages.member(`${path}/:id/edit`, (visit) => showForm(options, visit, kind, idOf(visit))),
        pages.memberForm(`${path}/:id/edit`, (visit, form) => save(options, visit, kind, form), { bytesMax }),
        pages.memberForm(`${path}/:id/revert`, (visit, form) => revert(options, visit, kind, form)),
        ...removal(options, kind),
      ];
    }),
    pages.memberForm(`${kindPath('papers')}/:id/publish`, async (visit, form) => {
      const published = form.get('published') === 'true';
      await options.papers.patch(visit.accountId, idOf(visit), { published }, browserOf(visit));
      return pages.go(visit, documentPath('papers', idOf(visit)), {
        text: published ? 'The paper is published.' : 'The paper is a draft again.',
      });
    }),
  ];
}

/** Throws Refusal `not_found`. */
function idOf({ request }: MemberVisit): number {
  const given = request.params['id'] ?? '';
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new Refusal({ kind: 'not_found', what: 'there is no such document' });
  return Number(given);
}

async function showList(
  { pages, docs }: DocumentOptions,
  visit: MemberVisit,
  kinds: readonly Kind[],
  kind: Kind,
): Promise<Reply> {
  const { query } = visit.request;
  const asked = {
    search: kind.id === 'docs' ? searchWords(query, limits.devDocSearchCharsMax) : '',
    group: query.get('group') ?? '',
    cursor: query.get('cursor') ?? undefined,
  };
  const tried = await problemOf('list', {}, () => kind.list(visit.accountId, asked));
  const categories = kind.id === 'docs' ? docs.categories(visit.accountId) : [];
  const groups = categories.filter(({ docs: count }) => count > 0).map(({ name }) => name);
  const list = tried.ok ? tried.value : { items: [], cursor: undefined };
  const body = (
    <>
      {kind.id === 'docs' ? <CutSearch query={query} charsMax={limits.devDocSearchCharsMax} /> : null}
      <ListPage visit={visit} kinds={kinds} kind={kind} query={asked} groups={groups} list={list} />
    </>
  );
  return pages.show(visit, { title: kind.name, ...SECTION, body });
}

async function showDocument({ pages, renderer }: DocumentOptions, visit: MemberVisit, kind: Kind): Promise<Reply> {
  const version = visit.request.query.get('version');
  const isVersion = version !== null && /^[1-9]\d{0,14}$/.test(version);
  const document = kind.open(visit.accountId, idOf(visit), isVersion ? Number(version) : undefined);
  const { content, format } = document;
  const isMarkdown = format === 'markdown';
  const prose = isMarkdown ? await renderer.markdown(content, undefined, visit.accountId) : undefined;
  const part = textPart(content, wantedPart(visit.request.query), limits.shownTextCharsMax);
  const code = prose === undefined ? await renderer.code(part, `x.${format}`, visit.accountId) : undefined;
  const props = { visit, kind, document, prose, code, part };
  return pages.show(visit, { title: document.title, ...SECTION, body: <DocumentPage {...props} /> });
}

function showForm(
  { pages }: Pick<DocumentOptions, 'pages'>,
  visit: MemberVisit,
  kind: Kind,
  id: number | undefined,
  problem?: Problem,
): PageAnswer {
  const document = id === undefined ? undefined : kind.open(visit.accountId, id);
  return pages.show(visit, {
    title: document === undefined ? `New ${kind.one}` : `Edit ${document.title}`,
    section: 'documents',
    status: problem === undefined ? 200 : 422,
    body: <WritePage visit={visit} kind={kind} document={document} problem={problem} />,
  });
}

function written({ inputs }: Kind, form: URLSearchParams, forWhat: 'new' | 'change'): WrittenDocument {
  const field = (name: string) => form.get(name) ?? '';
  // Browsers send line ends in forms as CR LF.
  const content = field('content').replace(/\r\n?/g, '\n');
  return { title: field('title'), group: field('group'), content, others: readOtherFields(inputs, form, forWhat) };
}

async function create(options: DocumentOptions, visit: MemberVisit, kind: Kind, form: URLSearchParams): Promise<Reply> {
  const given = written(kind, form, 'new');
  const tried = await problemOf('document', { ...Object.fromEntries(form), content: given.content }, () =>
    kind.create(visit.accountId, given, browserOf(visit)),
  );
  if (!tried.ok) return showForm(options, visit, kind, undefined, inForm(kind.id, tried.problem));
  return options.pages.go(visit, documentPath(kind.id, tried.value), { text: 'Saved.' });
}

async function save(options: DocumentOptions, visit: MemberVisit, kind: Kind, form: URLSearchParams): Promise<Reply> {
  const id = idOf(visit);
  const given = written(kind, form, 'change');
  const expected = Number(form.get('expected'));
  const tried = await problemOf('document', { ...Object.fromEntries(form), content: given.content }, () =>
    kind.save(visit.accountId, id, given, expected, browserOf(visit)),
  );
  if (!tried.ok) return showForm(options, visit, kind, id, inForm(kind.id, tried.problem));
  return options.pages.go(visit, documentPath(kind.id, id), { text: 'Saved.' });
}

/** Renames the fields in errors of a capability to those of the form. */
function inForm(kind: KindId, problem: Problem): Problem {
  const names: Readonly<Record<string, string>> =
    kind === 'handoffs' ? { project: 'group', topic: 'title' } : { category: 'group' };
  const fields: FieldErrors = Object.fromEntries(
    Object.entries(problem.fields).map(([name, errors]) => [names[name] ?? name, errors]),
  );
  return { ...problem, fields };
}

/** Saves the text of an older version as a new, current version. */
async function revert(options: DocumentOptions, visit: MemberVisit, kind: Kind, form: URLSearchParams): Promise<Reply> {
  const id = idOf(visit);
  const version = Number(form.get('version'));
  const { title, label: group, content } = kind.open(visit.accountId, id, version);
  const expected = Number(form.get('expected'));
  await kind.save(visit.accountId, id, { title, group, content, others: {} }, expected, browserOf(visit));
  return options.pages.go(visit, documentPath(kind.id, id), { text: `Version ${version} was restored.` });
}

function removal({ pages }: DocumentOptions, kind: Kind): Route[] {
  const { bin } = kind;
  if (bin === undefined) return [];
  const path = kindPath(kind.id);
  return [
    pages.memberForm(`${path}/:id/delete`, async (visit) => {
      await bin.remove(visit.accountId, idOf(visit), browserOf(visit));
      return pages.go(visit, path, {
        text: `The ${kind.one} is in the trash, and stays there for ${limits.binDays} days.`,
        undo: { label: 'Undo', action: `${path}/${idOf(visit)}/restore` },
      });
    }),
    pages.memberForm(`${path}/:id/restore`, async (visit) => {
      await bin.restore(visit.accountId, idOf(visit), browserOf(visit));
      return pages.go(visit, documentPath(kind.id, idOf(visit)), { text: `The ${kind.one} was restored.` });
    }),
  ];
}
