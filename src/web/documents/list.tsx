/** The page that lists documents of one kind. */
import type { VNode } from 'preact';
import type { MemberVisit } from '../pages.ts';
import { Ago } from '../rendering/ago.tsx';
import { By, Empty, Given } from '../ui.tsx';
import type { DocumentList, Kind, KindId, ListedDocument, ListQuery } from './kinds.ts';

export interface ListPageProps {
  readonly visit: MemberVisit;
  readonly kinds: readonly Kind[];
  readonly kind: Kind;
  readonly query: ListQuery;
  /** Non-empty categories of dev docs. */
  readonly groups: readonly string[];
  readonly list: DocumentList;
}

export function ListPage({ visit, kinds, kind, query, groups, list }: ListPageProps): VNode {
  const path = kindPath(kind.id);
  return (
    <>
      <div class="intro">
        <div class="title-row">
          <h1>Documents</h1>
          <p class="title-links">
            <a href="/documents/trash">Trash</a>
          </p>
        </div>
        <p class="lead">Notes your agents write for you and for each other, and rules you write for them.</p>
      </div>
      <nav class="chips" aria-label="Kinds of documents">
        {kinds.map(({ id, name }) => (
          <a key={id} href={kindPath(id)} aria-current={id === kind.id ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <section class="panel" aria-labelledby="documents">
        <div class="panel-head">
          <h2 id="documents">{headingOf(kind, query)}</h2>
          {kind.id === 'docs' ? <Search path={path} query={query} /> : <SearchEverything kind={kind} />}
        </div>
        <div class="actions">
          <a class="button small" href={`${path}/new`}>
            New {kind.one}
          </a>
          <Groups kind={kind} query={query} groups={groups} />
        </div>
        {list.items.length > 0 ? (
          <ul class="rows">
            {list.items.map((item) => (
              <Item key={item.id} visit={visit} kind={kind} query={query} item={item} />
            ))}
          </ul>
        ) : (
          <Nothing kind={kind} query={query} />
        )}
        {list.cursor === undefined ? null : (
          <nav aria-label={`Pages of ${kind.name.toLowerCase()}`}>
            <a href={`${path}?${queryOf({ ...query, cursor: list.cursor })}`}>More</a>
          </nav>
        )}
      </section>
    </>
  );
}

function headingOf({ id, name }: Kind, { group, search }: ListQuery): string {
  if (search !== '') return `Found: ${search}`;
  if (id === 'handoffs') return group === '' ? 'Newest of each project' : group;
  return name;
}

function Search({ path, query }: { readonly path: string; readonly query: ListQuery }): VNode {
  return (
    <form class="find" method="get" action={path}>
      {query.group === '' ? null : <input type="hidden" name="group" value={query.group} />}
      <input
        type="search"
        name="q"
        aria-label="Find dev docs by title or text"
        placeholder="Title or text"
        value={query.search}
      />
      <button class="button" type="submit">
        Find
      </button>
    </form>
  );
}

/** Handoffs and papers are found in the index of everything. */
function SearchEverything({ kind }: { readonly kind: Kind }): VNode {
  return (
    <form class="find" method="get" action="/search">
      <input type="hidden" name="in" value={kind.one} />
      <input
        type="search"
        name="q"
        aria-label={`Find ${kind.name.toLowerCase()} by words in them`}
        placeholder="Words in them"
      />
      <button class="button" type="submit">
        Find
      </button>
    </form>
  );
}

function Groups({ kind, query, groups }: Pick<ListPageProps, 'kind' | 'query' | 'groups'>): VNode | null {
  const all = kind.id === 'papers' ? ['published', 'draft'] : groups;
  if (all.length === 0 && query.group === '') return null;
  const path = kindPath(kind.id);
  return (
    <nav class="chips" aria-label="Filter">
      {['', ...all].map((group) => (
        <a
          key={group}
          href={group === '' ? path : `${path}?${queryOf({ group, search: query.search, cursor: undefined })}`}
          aria-current={group === query.group ? 'page' : undefined}
        >
          {group === '' ? 'All' : <Given>{group}</Given>}
        </a>
      ))}
    </nav>
  );
}

interface ItemProps {
  readonly visit: MemberVisit;
  readonly kind: Kind;
  readonly query: ListQuery;
  readonly item: ListedDocument;
}

function Item({ visit, kind, query, item }: ItemProps): VNode {
  const { id, title, label, preview, at, by } = item;
  const isOverview = kind.id === 'handoffs' && query.group === '';
  return (
    <li class="row">
      <div class="row-main">
        <a class="row-name" href={documentPath(kind.id, id)}>
          <Given>{title}</Given>
        </a>{' '}
        {isOverview ? (
          <a class="badge" href={`${kindPath('handoffs')}?${new URLSearchParams({ group: label })}`}>
            <Given>{label}</Given>
          </a>
        ) : (
          <span class={label === 'Published' ? 'badge good' : 'badge'}>{label}</span>
        )}
        {preview === undefined || preview === '' ? null : (
          <p class="preview">
            <Given>{withoutMarks(preview)}</Given>
          </p>
        )}
      </div>
      <p class="meta">
        <Ago at={at} zone={visit.zone} />
        <By name={by} visit={visit} />
      </p>
    </li>
  );
}

function Nothing({ kind, query }: { readonly kind: Kind; readonly query: ListQuery }): VNode {
  if (query.search !== '' || query.group !== '' || query.cursor !== undefined) return <p>Nothing found.</p>;
  return (
    <Empty title={`No ${kind.name.toLowerCase()} yet`}>
      <p>{HINTS[kind.id]}</p>
    </Empty>
  );
}

const HINTS: Readonly<Record<KindId, string>> = {
  docs: 'Rules and notes for agents, by category. Write one here, or let an agent use create_dev_doc.',
  handoffs: 'Notes for the next session. Agents save them with handoff_save.',
  papers: 'Longer texts, as drafts or published. Write one here, or let an agent use create_paper.',
};

export function kindPath(kind: KindId): string {
  return `/documents/${kind}`;
}

export function documentPath(kind: KindId, id: number, version?: number): string {
  return `${kindPath(kind)}/${id}${version === undefined ? '' : `?version=${version}`}`;
}

function queryOf({ search, group, cursor }: ListQuery): URLSearchParams {
  return new URLSearchParams({
    ...(search === '' ? {} : { q: search }),
    ...(group === '' ? {} : { group }),
    ...(cursor === undefined ? {} : { cursor }),
  });
}

/** The beginning of a Markdown text as one line for people, without the marks of headings, emphasis and code. */
function withoutMarks(text: string): string {
  return text.replace(/(^|\s)#{1,6}\s/g, '$1').replace(/\*\*|__|`/g, '');
}
