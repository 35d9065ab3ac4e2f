/** The page that searches everything in an account, by its one index: counts by kind, marked lines, pages by cursor. */

import type { VNode } from 'preact';
import type { Route } from '../../http/route/route.ts';
import { THING_KINDS, type ThingKindName } from '../../ids/thing.ts';
import { limits } from '../../limits/service.ts';
import { type Find, readCursor } from '../../search/found.ts';
import type { FoundThing, FoundThings } from '../../search/messages.ts';
import { leavesOutOnly, readSearch } from '../../search/query.ts';
import type { Snippet } from '../../search/snippets.ts';
import { countWithNoun } from '../../text/count.ts';
import { emptyAdvice, leftOutAdvice, MORE_LATER, ONLY_LEFT_OUT } from '../../text/search-advice.ts';
import { CutSearch, searchWords } from '../fields.tsx';
import type { Pages } from '../pages.ts';
import { Empty, Given, SubmitButton } from '../ui.tsx';

export interface SearchOptions {
  readonly pages: Pages;
  readonly find: Find;
}

interface Asked {
  readonly text: string;
  readonly kind: ThingKindName | undefined;
}

const NAMES: Readonly<Record<ThingKindName, readonly [one: string, many: string]>> = {
  task: ['task', 'Tasks'],
  doc: ['dev doc', 'Dev docs'],
  handoff: ['handoff', 'Handoffs'],
  paper: ['paper', 'Papers'],
  file: ['file', 'Files'],
  backup: ['backup', 'Backups'],
};

export function searchRoutes({ pages, find }: SearchOptions): Route[] {
  return [
    pages.member('/search', async (visit) => {
      const { query } = visit.request;
      const text = searchWords(query, limits.searchCharsMax);
      const kind = THING_KINDS.find((one) => one === query.get('in'));
      const asked = { text, kind };
      const { accountId } = visit;
      // Whoever opens the page is about to search: the index is begun.
      if (text === '')
        find({ accountId, query: '', kinds: undefined, ranking: 0, offset: 0, limit: 1 }).catch(() => undefined);
      const cursor = query.get('cursor') ?? undefined;
      const found =
        text === ''
          ? undefined
          : await find({
              accountId,
              query: text,
              kinds: kind === undefined ? undefined : [kind],
              ...readCursor(cursor),
              limit: limits.searchRows,
            });
      return pages.show(visit, {
        title: text === '' ? 'Search' : `Search: ${text}`,
        body: (
          <>
            <h1>Search</h1>
            <SearchForm {...asked} />
            <CutSearch query={query} charsMax={limits.searchCharsMax} />
            <p class="sr-only" role="status">
              {found === undefined ? '' : countWithNoun(found.total, 'result')}
            </p>
            {found === undefined ? <Hint /> : <Results found={found} asked={asked} />}
          </>
        ),
      });
    }),
  ];
}

function SearchForm({ text, kind }: Asked): VNode {
  return (
    <form class="filters whole" method="get" action="/search" data-swap="typing">
      <label class="filter-search">
        <span class="sr-only">Search everything</span>
        <input
          type="search"
          name="q"
          id="search-q"
          value={text}
          placeholder="Words in tasks, documents, files and their names"
          autocomplete="off"
          autofocus
        />
      </label>
      {kind === undefined ? null : <input type="hidden" name="in" value={kind} />}
      <SubmitButton look="primary">Search</SubmitButton>
    </form>
  );
}

function Hint(): VNode {
  return (
    <p class="lead">
      Finds tasks, documents, files and backups that have all of the words. The beginning of a word is enough.
    </p>
  );
}

interface ResultsProps {
  readonly found: FoundThings;
  readonly asked: Asked;
}

function Results({ found, asked }: ResultsProps): VNode {
  const { results, total, without, complete, cursor } = found;
  const leftOut = leftOutAdvice(without);
  const kind = asked.kind === undefined ? undefined : NAMES[asked.kind][1].toLowerCase();
  const advice = leavesOutOnly(readSearch(asked.text))
    ? `The search ${ONLY_LEFT_OUT}.`
    : emptyAdvice(asked.text, found, kind);
  return (
    <>
      <Kinds found={found} asked={asked} />
      {results.length === 0 ? (
        <Empty title="Nothing found">
          <p>
            <Given>{advice}</Given>
          </p>
        </Empty>
      ) : (
        <section class="panel" aria-label="Results">
          <h2>
            Results <span class="count">{total}</span>
          </h2>
          <ul class="rows">
            {results.map((thing) => (
              <FoundRow key={thing.id} thing={thing} />
            ))}
          </ul>
        </section>
      )}
      {leftOut === undefined || results.length === 0 ? null : (
        <p class="hint">
          <Given>{leftOut}</Given>
        </p>
      )}
      {complete || results.length === 0 ? null : <p class="hint">{MORE_LATER}</p>}
      {cursor === undefined ? null : (
        <p>
          <a href={addressOf(asked, cursor)}>More results</a>
        </p>
      )}
    </>
  );
}

/** Filters by kind: those that have results, and the one that is chosen. */
function Kinds({ found: { counts }, asked }: ResultsProps): VNode | null {
  const kinds = THING_KINDS.filter((kind) => counts[kind] !== undefined || kind === asked.kind);
  if (kinds.length === 0 || (kinds.length === 1 && asked.kind === undefined)) return null;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <nav class="chips" aria-label="Kinds">
      <a href={addressOf({ ...asked, kind: undefined })} aria-current={asked.kind === undefined ? 'page' : undefined}>
        All {all}
      </a>
      {kinds.map((kind) => (
        <a
          key={kind}
          href={addressOf({ ...asked, kind })}
          aria-current={asked.kind === kind ? 'page' : undefined}
        >{`${NAMES[kind][1]} ${counts[kind] ?? 0}`}</a>
      ))}
    </nav>
  );
}

function FoundRow({ thing: { kind, title, place, path, lines } }: { readonly thing: FoundThing }): VNode {
  const [label] = NAMES[kind];
  return (
    <li class="row" data-kind={label}>
      <div class="row-main">
        <a href={path}>
          <Given>{title}</Given>
        </a>
        {lines
          .filter(({ text }) => text !== title)
          .map((one) => (
            <p class="meta" key={one.line}>
              {kind === 'task' ? null : kind === 'file' ? <LineLink path={path} line={one.line} /> : `${one.line}: `}
              <Marked line={one} />
            </p>
          ))}
      </div>
      <span class="meta">
        {label}
        {place === '' ? null : (
          <>
            {' · '}
            <Given>{place}</Given>
          </>
        )}
      </span>
    </li>
  );
}

/** Leads to a line of a file: to the part of the text that has it. */
function LineLink({ path, line }: { readonly path: string; readonly line: number }): VNode {
  return (
    <>
      <a href={`${path}&view=source&line=${line}#L${line}`} aria-label={`Line ${line}`}>
        {line}
      </a>
      :{' '}
    </>
  );
}

/** A line in its own direction, with the wanted words marked. */
function Marked({ line: { text, marks } }: { readonly line: Snippet }): VNode {
  const parts = marks.map(([from, to], at) => (
    <>
      {text.slice(marks[at - 1]?.[1] ?? 0, from)}
      <mark>{text.slice(from, to)}</mark>
    </>
  ));
  return (
    <bdi>
      {parts}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </bdi>
  );
}

function addressOf({ text, kind }: Asked, cursor?: string): string {
  const query = new URLSearchParams({ q: text });
  if (kind !== undefined) query.set('in', kind);
  if (cursor !== undefined) query.set('cursor', cursor);
  return `/search?${query.toString()}`;
}
