/** Shows the open tasks due today or overdue on the start page, in the reader's time zone. */
import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { Tasks } from '../../tasks/service.ts';
import { dayNumber } from '../../time/calendar.ts';
import { CsrfField, Given, SubmitButton } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';
import { dateText } from '../zone-format.ts';

interface DueProps {
  readonly tasks: Tasks;
  readonly visit: MemberVisit;
  /** YYYY-MM-DD. */
  readonly today: string;
}

/** Renders nothing when no task is due. */
export function DueToday({ tasks, visit, today }: DueProps): VNode | null {
  const due = { low: Number.NEGATIVE_INFINITY, high: dayNumber(today) };
  const order = { sortBy: 'due_date', descending: false } as const;
  const limit = limits.dueRows;
  const { tasks: found, total } = tasks.list(visit.accountId, {
    filter: { completed: false, due },
    order,
    offset: 0,
    limit,
  });
  if (total === 0) return null;
  const before = { low: Number.NEGATIVE_INFINITY, high: dayNumber(today) - 1 };
  const overdue = tasks.list(visit.accountId, {
    filter: { completed: false, due: before },
    order,
    offset: 0,
    limit: 1,
  }).total;
  return (
    <section class="panel" aria-labelledby="due">
      <h2 id="due">
        {total > overdue ? (
          <>
            Due today <span class="count">{total - overdue}</span>{' '}
            {overdue === 0 ? null : <span class="badge bad">{overdue} overdue</span>}
          </>
        ) : (
          <>
            Overdue <span class="count">{overdue}</span>
          </>
        )}
      </h2>
      <ul class="rows">
        {found.map(({ id, content, due_date: date, is_important: isImportant }) => (
          <li key={id} class="row" id={`task-${id}`}>
            <p class="row-main">
              <a href={`/tasks/${id}`}>
                <Given>{content.split('\n', 1)[0] ?? ''}</Given>
              </a>{' '}
              {isImportant ? <span class="badge bad">Important</span> : null}{' '}
              {date !== null && date < today ? <span class="badge bad">overdue, {dateText(date, today)}</span> : null}
            </p>
            <form method="post" action={`/tasks/${id}/move`} data-swap>
              <CsrfField csrf={visit.csrf} />
              <input type="hidden" name="back" value="/" />
              <SubmitButton look="small" name="status" value="done">
                Done<span class="sr-only">: {content.split('\n', 1)[0]}</span>
              </SubmitButton>
            </form>
          </li>
        ))}
      </ul>
      {total > limit ? <a href="/tasks">Show all {total}</a> : null}
    </section>
  );
}
