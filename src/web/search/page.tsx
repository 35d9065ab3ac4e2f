/** The page that searches everything in an account: tasks, documents, and files by name and content. */
import type { ComponentChildren, VNode } from 'preact';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { TaskRecord } from '../../tasks/declared.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Pages } from '../pages.ts';
import { Empty, Given } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';
import { type FoundDocument, findDocuments } from './documents.ts';
import { type FoundFiles, findVaultFiles } from './files.ts';
import { foldForSearch } from './fold.ts';

export interface SearchOptions
  extends Pick<Capabilities, 'tasks' | 'sync' | 'timeZones' | 'docs' | 'handoffs' | 'papers'> {
  readonly pages: Pages;
}

interface Found extends FoundFiles {
  readonly tasks: readonly TaskRecord[];
  readonly documents: readonly FoundDocument[];
}

export function searchRoutes(options: SearchOptions): Route[] {
  const { pages } = options;
  return [
    pages.member('/search', async (visit) => {
      const text = (visit.request.query.get('q') ?? '').trim().slice(0, limits.searchCharsMax);
      const found = text === '' ? undefined : await search(options, visit, text);
      return pages.show(visit, {
        title: text === '' ? 'Search' : `Search: ${text}`,
        body: (
          <>
            <h1>Search</h1>
            <SearchForm text={text} />
            <p class="sr-only" role="status">
              {found === undefined ? '' : resultsText(found.tasks.length + found.documents.length + found.files.length)}
            </p>
            {found === undefined ? <Hint /> : <Results found={found} />}
          </>
        ),
      });
    }),
  ];
}

async function search(options: SearchOptions, visit: MemberVisit, text: string): Promise<Found> {
  const { tasks, sync, timeZones } = options;
  const { accountId } = visit;
  const byTask = await tasks.searchShown(accountId, {
    filter: {},
    order: { sortBy: 'updated_at', descending: true },
    limit: limits.searchRows,
    text,
    zone: timeZones.of(accountId),
  });
  const { documents, complete } = await findDocuments(options, accountId, text);
  const files = await findVaultFiles(sync, accountId, foldForSearch(text));
  return {
    tasks: byTask.tasks.map(({ json }) => JSON.parse(json) as TaskRecord),
    documents,
    files: files.files,
    complete: complete && files.complete && !byTask.hasMore,
  };
}

function SearchForm({ text }: { readonly text: string }): VNode {
  return (
    <form class="filters whole" method="get" action="/search" data-swap="typing">
      <label class="filter-search">
        <span class="sr-only">Search everything</span>
        <input
          type="search"
          name="q"
          id="search-q"
          value={text}
          maxlength={limits.searchCharsMax}
          placeholder="Tasks, documents, files and their text"
          autocomplete="off"
          autofocus
        />
      </label>
      <button class="button primary" type="submit">
        Search
      </button>
    </form>
  );
}

function Hint(): VNode {
  return (
    <p class="lead">Searches tasks, documents, file names and file contents. Upper and lower case are the same.</p>
  );
}

function Results({ found }: { readonly found: Found }): VNode {
  const { tasks, documents, files, complete } = found;
  if (tasks.length + documents.length + files.length === 0) {
    return (
      <Empty title="Nothing found">
        <p>
          {complete ? 'Try fewer or other words.' : 'Only some of your files were searched. Try the name of the file.'}
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Group title="Tasks" count={tasks.length}>
        {tasks.map(({ id, content, kanban_status: status }) => (
          <li key={id} class="row">
            <a class="row-main" href={`/tasks/${id}`}>
              <Given>{content.slice(0, limits.searchLineChars)}</Given>
            </a>
            {status === 'done' ? <span class="badge">done</span> : null}
          </li>
        ))}
      </Group>
      <Group title="Documents" count={documents.length}>
        {documents.map(({ path, title, label, line }) => (
          <FoundRow key={path} href={path} title={title} line={line} of={label} />
        ))}
      </Group>
      <Group title="Files" count={files.length}>
        {files.map(({ vaultId, vault, path, line }) => {
          const href = `/vaults/${vaultId}/file?path=${encodeURIComponent(path)}`;
          return <FoundRow key={href} href={href} title={path} line={line} of={vault} />;
        })}
      </Group>
      {complete ? null : <p class="hint">Only some of the results are shown. Add a word to narrow the search.</p>}
    </>
  );
}

interface FoundRowProps {
  readonly href: string;
  readonly title: string;
  readonly line: string | undefined;
  /** The vault of a file, or the kind of a document. */
  readonly of: string;
}

function FoundRow({ href, title, line, of }: FoundRowProps): VNode {
  return (
    <li class="row">
      <div class="row-main">
        <a href={href}>
          <Given>{title}</Given>
        </a>
        {line === undefined ? null : (
          <p class="meta">
            <Given>{line}</Given>
          </p>
        )}
      </div>
      <span class="meta">
        <Given>{of}</Given>
      </span>
    </li>
  );
}

interface GroupProps {
  readonly title: string;
  readonly count: number;
  readonly children: ComponentChildren;
}

function Group({ title, count, children }: GroupProps): VNode | null {
  if (count === 0) return null;
  return (
    <section class="panel" aria-label={title}>
      <h2>
        {title} <span class="count">{count}</span>
      </h2>
      <ul class="rows">{children}</ul>
    </section>
  );
}

function resultsText(count: number): string {
  return count === 1 ? '1 result' : `${count} results`;
}
