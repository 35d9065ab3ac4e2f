/** The page of deleted documents: their titles, when each is permanently deleted, and a button to restore it. */
import type { VNode } from 'preact';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { DAY_MS } from '../../time/calendar.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { By, Empty, Form, Given, Moment } from '../ui.tsx';
import type { KindId } from './kinds.ts';
import { documentPath, kindPath } from './list.tsx';

interface TrashOptions extends Pick<Capabilities, 'docs' | 'papers'> {
  readonly pages: Pages;
}

interface DeletedDocument {
  readonly kind: KindId;
  readonly one: string;
  readonly id: number;
  readonly title: string;
  /** ISO 8601. */
  readonly at: string;
  readonly by: string | undefined;
}

export function trashRoute({ pages, docs, papers }: TrashOptions): Route {
  return pages.member('/documents/trash', (visit) => {
    const found = [
      ...docs.deleted(visit.accountId).map(({ id, title, deleted_at: at, changed_by: by }) => {
        return { kind: 'docs', one: 'dev doc', id, title, at: at ?? '', by } as const;
      }),
      ...papers.deleted(visit.accountId).map(({ id, title, deleted_at: at, changed_by: by }) => {
        return { kind: 'papers', one: 'paper', id, title, at, by } as const;
      }),
    ].sort((a, b) => b.at.localeCompare(a.at));
    return pages.show(visit, {
      title: 'Trash',
      section: 'documents',
      live: ['documents'],
      body: (
        <TrashPage
          visit={visit}
          found={found.slice(0, limits.trashRowsShown)}
          hasMore={found.length > limits.trashRowsShown}
        />
      ),
    });
  });
}

interface TrashPageProps {
  readonly visit: MemberVisit;
  readonly found: readonly DeletedDocument[];
  readonly hasMore: boolean;
}

function TrashPage({ visit, found, hasMore }: TrashPageProps): VNode {
  return (
    <>
      <div class="intro">
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href={kindPath('docs')}>Documents</a>
        </nav>
        <h1>Trash</h1>
        <p class="lead">Deleted documents stay here for {limits.binDays} days. Then they are permanently deleted.</p>
      </div>
      {found.length === 0 ? (
        <Empty title="The trash is empty">
          <p>Dev docs and papers that you or your agents delete appear here.</p>
        </Empty>
      ) : (
        <section class="panel" aria-label="Deleted documents">
          <ul class="rows">
            {found.map((one) => (
              <Deleted key={`${one.kind} ${one.id}`} visit={visit} document={one} />
            ))}
          </ul>
        </section>
      )}
      {hasMore ? <p class="hint">Only the newest {limits.trashRowsShown} are shown.</p> : null}
    </>
  );
}

function Deleted({ visit, document }: { readonly visit: MemberVisit; readonly document: DeletedDocument }): VNode {
  const { kind, one, id, title, at, by } = document;
  return (
    <li class="row">
      <div class="row-main">
        <p class="row-name">
          <Given>{title}</Given> <span class="badge">{one}</span>
        </p>
        <p class="meta">
          Deleted <Moment at={at} zone={visit.zone} />
          <By name={by} visit={visit} />. Permanently deleted{' '}
          <Moment at={Date.parse(at) + limits.binDays * DAY_MS} zone={visit.zone} />.
        </p>
      </div>
      <Form csrf={visit.csrf} action={`${documentPath(kind, id)}/restore`} class="">
        <button class="button small" type="submit">
          Restore<span class="sr-only"> {title}</span>
        </button>
      </Form>
    </li>
  );
}
