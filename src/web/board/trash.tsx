/** The page of deleted tasks: their text, when each is permanently deleted, and a button to restore it. */
import type { VNode } from 'preact';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { TaskRecord } from '../../tasks/declared.ts';
import { DAY_MS } from '../../time/calendar.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { By, CsrfField, Empty, Given, Moment, SubmitButton } from '../ui.tsx';
import { shortName } from './card.tsx';

interface TrashOptions extends Pick<Capabilities, 'tasks'> {
  readonly pages: Pages;
}

export function trashRoutes({ pages, tasks }: TrashOptions): Route[] {
  return [
    pages.member('/tasks/trash', async (visit) => {
      const found = await tasks.deleted(visit.accountId);
      return pages.show(visit, {
        title: 'Trash',
        section: 'tasks',
        live: ['tasks'],
        body: (
          <>
            <div class="intro">
              <nav class="crumbs" aria-label="Breadcrumb">
                <a href="/tasks">Tasks</a>
              </nav>
              <h1>Trash</h1>
              <p class="lead">Deleted tasks stay here for {limits.binDays} days. Then they are permanently deleted.</p>
            </div>
            {found.length === 0 ? (
              <Empty title="The trash is empty">
                <p>Tasks that you or your agents delete appear here.</p>
              </Empty>
            ) : (
              <section class="panel" aria-label="Deleted tasks">
                <ul class="rows">
                  {found.map((task) => (
                    <Deleted key={task.id} task={task} visit={visit} />
                  ))}
                </ul>
              </section>
            )}
            {found.length < limits.trashRowsShown ? null : (
              <p class="hint">Only the newest {limits.trashRowsShown} are shown.</p>
            )}
          </>
        ),
      });
    }),
  ];
}

function Deleted({ task, visit }: { readonly task: TaskRecord; readonly visit: MemberVisit }): VNode {
  const name = shortName(task.content);
  const at = task.deleted_at ?? task.updated_at;
  return (
    <li class="row" id={`task-${task.id}`}>
      <div class="row-main">
        <p class="row-name">
          <Given>{name}</Given>
        </p>
        <p class="meta">
          Deleted <Moment at={at} zone={visit.zone} />
          <By name={task.changed_by} visit={visit} />. Permanently deleted{' '}
          <Moment at={Date.parse(at) + limits.binDays * DAY_MS} zone={visit.zone} />.
        </p>
      </div>
      <form method="post" action={`/tasks/${task.id}/restore`} data-swap>
        <CsrfField csrf={visit.csrf} />
        <input type="hidden" name="back" value="/tasks/trash" />
        <SubmitButton look="small">
          Restore<span class="sr-only"> {name}</span>
        </SubmitButton>
      </form>
    </li>
  );
}
