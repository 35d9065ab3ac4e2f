/** The look of the task board: four columns of cards, and the buttons that move them. */
import type { VNode } from 'preact';
import type { Category } from '../../tasks/categories.ts';
import type { KanbanStatus, TaskRecord } from '../../tasks/records.ts';
import type { MemberVisit } from '../pages.ts';
import { CsrfField, Empty, Given } from '../ui.tsx';
import { dateText } from '../zone.ts';

export const COLUMNS = [
  { status: 'backlog', name: 'Backlog', empty: 'Ideas for later go here.' },
  { status: 'todo', name: 'To do', empty: 'What you do next goes here.' },
  { status: 'in_progress', name: 'In progress', empty: 'Move a task here when you begin it.' },
  { status: 'done', name: 'Done', empty: 'What is finished lands here.' },
] as const satisfies readonly { status: KanbanStatus; name: string; empty: string }[];

const [, , , DONE] = COLUMNS;

export interface ColumnProps {
  readonly column: (typeof COLUMNS)[number];
  readonly tasks: readonly TaskRecord[];
  readonly total: number;
  /** Where the rest of the column is shown; undefined: this is all. */
  readonly more: string | undefined;
  readonly board: BoardContext;
}

/** What every card of a board needs. */
export interface BoardContext {
  readonly visit: MemberVisit;
  readonly categories: readonly Category[];
  /** The category that the board is narrowed to. */
  readonly category: number | undefined;
  /** YYYY-MM-DD. */
  readonly today: string;
}

export function Column({ column, tasks, total, more, board }: ColumnProps): VNode {
  const id = `column-${column.status}`;
  return (
    <section class="column" aria-labelledby={id} data-column={column.status}>
      <h2 id={id}>
        {column.name} <span class="count">{total}</span>
      </h2>
      {tasks.length === 0 ? (
        <p class="column-empty">{column.empty}</p>
      ) : (
        <ul class="cards">
          {tasks.map((task) => (
            <Card key={task.id} task={task} board={board} />
          ))}
        </ul>
      )}
      {more === undefined ? null : <a href={more}>Show all {total}</a>}
    </section>
  );
}

/** How much of a task a card shows. */
const CARD_CHARS = 280;

function Card({ task, board }: { readonly task: TaskRecord; readonly board: BoardContext }): VNode {
  const { categories } = board;
  const text = task.content.length > CARD_CHARS ? `${task.content.slice(0, CARD_CHARS)}…` : task.content;
  const category = categories.find(({ id }) => id === task.category_id);
  return (
    <li class={task.kanban_status === 'done' ? 'card is-done' : 'card'} id={`task-${task.id}`} data-task={task.id}>
      <p class="card-text">
        {task.is_important ? <span class="badge bad">important</span> : null} <Given>{text}</Given>
      </p>
      {task.due_date === null && category === undefined ? null : (
        <p class="card-facts">
          {task.due_date === null ? null : <Due task={task} today={board.today} />}
          {category === undefined ? null : <CategoryChip category={category} />}
        </p>
      )}
      <CardActions task={task} board={board} />
    </li>
  );
}

function CardActions({ task, board }: { readonly task: TaskRecord; readonly board: BoardContext }): VNode {
  const at = COLUMNS.findIndex(({ status }) => status === task.kanban_status);
  const before = COLUMNS[at - 1];
  const after = COLUMNS[at + 1];
  const name = shortName(task.content);
  return (
    <form class="card-actions" method="post" action={`/tasks/${task.id}/move`}>
      <CsrfField csrf={board.visit.csrf} />
      {board.category === undefined ? null : <input type="hidden" name="category" value={board.category} />}
      {before === undefined ? null : <Move to={before} sign="←" task={name} />}
      {after === undefined || after === DONE ? null : <Move to={after} sign="→" task={name} />}
      {after === undefined ? null : <Move to={DONE} sign="✓" task={name} />}
      <a class="button quiet small card-edit" href={`/tasks/${task.id}`}>
        Edit<span class="sr-only"> {name}</span>
      </a>
    </form>
  );
}

interface MoveProps {
  readonly to: (typeof COLUMNS)[number];
  readonly sign: string;
  readonly task: string;
}

function Move({ to, sign, task }: MoveProps): VNode {
  return (
    <button class="button small square" type="submit" name="status" value={to.status} title={`Move to ${to.name}`}>
      <span aria-hidden="true">{sign}</span>
      <span class="sr-only">
        Move to {to.name}: {task}
      </span>
    </button>
  );
}

function Due({ task, today }: { readonly task: TaskRecord; readonly today: string }): VNode {
  const date = task.due_date ?? '';
  const isOpen = task.kanban_status !== 'done';
  if (isOpen && date < today) return <span class="badge bad">overdue, {dateText(date)}</span>;
  if (isOpen && date === today) return <span class="badge warn">due today</span>;
  return <span class="badge">due {dateText(date)}</span>;
}

/** The dot is an image, because a style of its own would be inline. */
function CategoryChip({ category }: { readonly category: Category }): VNode {
  return (
    <span class="badge">
      {category.color === null ? null : (
        <svg class="dot" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
          <circle cx="5" cy="5" r="5" fill={category.color} />
        </svg>
      )}
      <Given>{category.name}</Given>
    </span>
  );
}

export function NoTasks(): VNode {
  return (
    <Empty title="Nothing to do yet">
      <p>
        Add your first task above. Your agents see the same board: ask one to “list my tasks on Cairn”, or to add one.
      </p>
    </Empty>
  );
}

/** The filter by category, as links. */
export function CategoryLinks({ categories, category }: Pick<BoardContext, 'categories' | 'category'>): VNode | null {
  if (categories.length === 0) return null;
  const links = [{ id: undefined, name: 'All' }, ...categories.map(({ id, name }) => ({ id, name }))];
  return (
    <nav class="chips" aria-label="Categories">
      {links.map(({ id, name }) => (
        <a
          key={id ?? 0}
          href={id === undefined ? '/tasks' : `/tasks?category=${id}`}
          aria-current={id === category ? 'true' : undefined}
        >
          <Given>{name}</Given>
        </a>
      ))}
    </nav>
  );
}

function shortName(content: string): string {
  const line = content.split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}
