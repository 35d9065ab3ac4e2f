/** Renders one task on the board: a checkbox, its text, its details, and a menu with all actions. */
import { createHash } from 'node:crypto';
import type { VNode } from 'preact';
import { version } from '../../common/version.ts';
import type { Category } from '../../tasks/categories.ts';
import type { TaskRecord } from '../../tasks/declared.ts';
import { dayNumber } from '../../time/calendar.ts';
import { CsrfField, Given } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';
import { dateText } from '../zone-format.ts';
import { COLUMNS, type ColumnKind } from './columns.ts';
import type { BoardFilter } from './filter.ts';
import { MANY_FORM } from './many.ts';

/** Shared by all cards of a board. */
export interface BoardContext {
  readonly visit: MemberVisit;
  readonly categories: readonly Category[];
  readonly filter: BoardFilter;
  /** The path of this view of the board; every action redirects to it. */
  readonly back: string;
  /** YYYY-MM-DD. */
  readonly today: string;
  /** The task that was added or moved just now. */
  readonly lit?: TaskRecord | undefined;
  /** The states of cards that the page to be renewed shows already. */
  readonly shown: ReadonlySet<string>;
}

interface CardProps {
  readonly task: TaskRecord;
  readonly board: BoardContext;
}

const CARD_CHARS = 280;
/** 60 bits. */
const STATE_CHARS = 10;

export function Card({ task, board }: CardProps): VNode {
  const { categories } = board;
  const category = categories.find(({ id }) => id === task.category_id);
  const state = stateOf(task, category, board);
  // An open page has this card as it is, and puts it in here.
  if (board.shown.has(state)) return <li id={`task-${task.id}`} data-same />;
  const text = task.content.length > CARD_CHARS ? `${task.content.slice(0, CARD_CHARS)}…` : task.content;
  const isDone = task.kanban_status === 'done';
  const hasFacts = task.is_important || task.due_date !== null || category !== undefined;
  return (
    <li
      class={`card${isDone ? ' is-done' : ''}${board.lit?.id === task.id ? ' is-lit' : ''}`}
      id={`task-${task.id}`}
      data-task={task.id}
      data-state={state}
    >
      <form method="post" action={`/tasks/${task.id}/move`} data-swap>
        <CsrfField csrf={board.visit.csrf} />
        <input type="hidden" name="back" value={board.back} />
        <PickBox task={task} />
        <Tick task={task} />
        <a class="card-text" id={`card-${task.id}`} href={`/tasks/${task.id}`} draggable={false}>
          <Given>{text}</Given>
        </a>
        <Menu task={task} isSorted={board.filter.sort !== undefined} />
      </form>
      {hasFacts ? (
        <p class="card-facts">
          {task.is_important ? <span class="badge bad">Important</span> : null}
          {task.due_date === null ? null : <Due task={task} today={board.today} />}
          {category === undefined ? null : <CategoryChip category={category} />}
        </p>
      ) : null}
    </li>
  );
}

/** Identifies all that a card shows, except the token of its form. */
function stateOf(task: TaskRecord, category: Category | undefined, { back, today, lit }: BoardContext): string {
  const { name, color } = category ?? {};
  const all = [version, task, name, color, back, today, lit?.id === task.id];
  return createHash('sha256').update(JSON.stringify(all)).digest('base64url').slice(0, STATE_CHARS);
}

/** Selects the card. It belongs to the form that acts on all selected cards. */
function PickBox({ task }: Pick<CardProps, 'task'>): VNode {
  return (
    <input
      class="pick"
      type="checkbox"
      form={MANY_FORM}
      name="task"
      id={`pick-${task.id}`}
      value={task.id}
      aria-label={`Select: ${shortName(task.content)}`}
      autocomplete="off"
    />
  );
}

function Tick({ task }: Pick<CardProps, 'task'>): VNode {
  const isDone = task.kanban_status === 'done';
  const label = `${isDone ? 'Mark not done' : 'Mark done'}: ${shortName(task.content)}`;
  return (
    <button
      class="tick"
      type="submit"
      name="status"
      value={isDone ? 'todo' : 'done'}
      aria-label={label}
      title={label}
    />
  );
}

function Menu({ task, isSorted }: Pick<CardProps, 'task'> & { readonly isSorted: boolean }): VNode {
  const { id } = task;
  const name = shortName(task.content);
  const others = COLUMNS.filter(({ status }) => status !== task.kanban_status);
  return (
    <details class="menu" data-menu>
      <summary aria-label={`Actions for ${name}`} title="Actions">
        <span aria-hidden="true">⋯</span>
      </summary>
      <div class="menu-body">
        <p class="menu-title" aria-hidden="true">
          Move to
        </p>
        {others.map((column) => (
          <Move key={column.status} to={column} task={name} />
        ))}
        {task.kanban_status === 'done' || isSorted ? null : <Place />}
        <hr />
        <button type="submit" formaction={`/tasks/${id}/mark`} name="important" value={String(!task.is_important)}>
          {task.is_important ? 'Not important' : 'Mark important'}
        </button>
        <a href={`/tasks/${id}`}>
          Edit<span class="sr-only"> {name}</span>
        </a>
        <button class="is-danger" type="submit" formaction={`/tasks/${id}/delete`}>
          Delete<span class="sr-only"> {name}</span>
        </button>
      </div>
    </details>
  );
}

function Move({ to, task }: { readonly to: ColumnKind; readonly task: string }): VNode {
  return (
    <button type="submit" name="status" value={to.status} aria-label={`Move to ${to.name}: ${task}`}>
      {to.name}
    </button>
  );
}

/** The keyboard alternative to dragging within a column. */
function Place(): VNode {
  return (
    <>
      <hr />
      <button type="submit" name="place" value="up">
        Move up
      </button>
      <button type="submit" name="place" value="down">
        Move down
      </button>
      <button type="submit" name="place" value="top">
        Move to the top
      </button>
    </>
  );
}

function Due({ task, today }: { readonly task: TaskRecord; readonly today: string }): VNode {
  const date = task.due_date ?? '';
  const isOpen = task.kanban_status !== 'done';
  if (isOpen && date < today) return <span class="badge bad">overdue, {dateText(date, today)}</span>;
  if (isOpen && date === today) return <span class="badge warn">due today</span>;
  const isTomorrow = isOpen && date !== '' && dayNumber(date) === dayNumber(today) + 1;
  return <span class="badge">due {isTomorrow ? 'tomorrow' : dateText(date, today)}</span>;
}

/** The dot is an image, because its color would otherwise need an inline style. */
export function CategoryChip({ category }: { readonly category: Pick<Category, 'name' | 'color'> }): VNode {
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

export function shortName(content: string): string {
  const line = content.split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}
