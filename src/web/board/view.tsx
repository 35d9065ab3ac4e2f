/** Renders the task board: the filter, the tabs that replace columns on a phone, and the columns. */
import { Fragment, type VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import { Empty, Given, SubmitButton } from '../ui.tsx';
import { type BoardContext, Card } from './card.tsx';
import type { ColumnTasks } from './columns.ts';
import { boardPath, DUE_FILTERS, isNarrowed } from './filter.ts';
import { GROUPINGS, groupTasks, SORTS } from './groups.ts';

export function Column({ found, board }: { readonly found: ColumnTasks; readonly board: BoardContext }): VNode {
  const { column, tasks, total, more, isCut } = found;
  const id = `column-${column.status}`;
  const open = column.status === 'done' ? tasks.slice(0, limits.boardDoneOpen) : tasks;
  const folded = tasks.slice(open.length);
  const isTab = board.filter.tab === column.status;
  return (
    <section class={isTab ? 'column is-tab' : 'column'} aria-labelledby={id} data-column={column.status}>
      <h2 id={id}>
        {column.name} <span class="count">{total}</span>
      </h2>
      {tasks.length === 0 ? <p class="column-empty">{isNarrowed(board.filter) ? 'None.' : column.empty}</p> : null}
      {groupTasks(open, board.filter.group, board).map(({ name, tasks: grouped }) => (
        <Fragment key={name ?? ''}>
          {name === undefined ? null : (
            <h3 class="group">
              <Given>{name}</Given> <span class="count">{grouped.length}</span>
            </h3>
          )}
          <ul class="cards">
            {grouped.map((task) => (
              <Card key={task.id} task={task} board={board} />
            ))}
          </ul>
        </Fragment>
      ))}
      {folded.length === 0 ? null : (
        <details class="folded" id={`${id}-folded`}>
          <summary>{folded.length} more</summary>
          <ul class="cards">
            {folded.map((task) => (
              <Card key={task.id} task={task} board={board} />
            ))}
          </ul>
        </details>
      )}
      {more === undefined ? null : (
        <a class="column-more" href={more.path} data-swap>
          {more.label}
          <span class="sr-only"> in {column.name}</span>
        </a>
      )}
      {isCut ? <p class="hint">More tasks match. Narrow the search to see them.</p> : null}
    </section>
  );
}

/** The columns as tabs: visible if the page is too narrow for several columns. */
export function ColumnTabs({
  columns,
  board,
}: {
  readonly columns: readonly ColumnTasks[];
  readonly board: BoardContext;
}) {
  return (
    <nav class="column-tabs" aria-label="Columns">
      {columns.map(({ column: { status, name }, total }) => (
        <a
          key={status}
          id={`tab-${status}`}
          data-tab={status}
          href={boardPath({ ...board.filter, tab: status })}
          aria-current={status === board.filter.tab ? 'true' : undefined}
          data-swap
        >
          {name} <span class="count">{total}</span>
        </a>
      ))}
    </nav>
  );
}

/** Shows and hides the filter on a phone, without script too. On wider screens the filter is always there. */
export function FilterToggle({ board }: { readonly board: BoardContext }): VNode {
  return (
    <label class="filter-toggle check">
      <input type="checkbox" id="filter-shown" checked={isNarrowed(board.filter)} />
      Filter
    </label>
  );
}

/** The filter as a GET form: a view of the board has an address, so it can be bookmarked. */
export function FilterForm({ board }: { readonly board: BoardContext }): VNode {
  const { filter, categories } = board;
  return (
    <form class="filters" method="get" action="/tasks" data-swap="typing" id="filters">
      <input type="hidden" name="tab" value={filter.tab} />
      <label class="filter-search">
        <span class="sr-only">Search tasks</span>
        <input
          type="search"
          name="q"
          id="filter-q"
          value={filter.text ?? ''}
          placeholder="Search tasks"
          autocomplete="off"
        />
      </label>
      {categories.length === 0 ? null : (
        <label>
          <span class="sr-only">Category</span>
          <select name="category" id="filter-category">
            <option value="">All categories</option>
            {categories.map(({ id, name }) => (
              <option key={id} value={id} selected={id === filter.category}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <span class="sr-only">Due</span>
        <select name="due" id="filter-due">
          <option value="">Any due date</option>
          {DUE_FILTERS.map(({ value, label }) => (
            <option key={value} value={value} selected={value === filter.due}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" name="important" id="filter-important" value="true" checked={filter.isImportant} />
        Important
      </label>
      <Arrange name="sort" label="Order" none="By hand" options={SORTS} chosen={filter.sort} />
      <Arrange name="group" label="Groups" none="No groups" options={GROUPINGS} chosen={filter.group} />
      <SubmitButton look="small">Filter</SubmitButton>
      {isNarrowed(filter) || filter.sort !== undefined || filter.group !== undefined ? (
        <a class="button small quiet" href="/tasks" id="filter-clear">
          Clear
        </a>
      ) : null}
    </form>
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

interface ArrangeProps {
  readonly name: string;
  readonly label: string;
  readonly none: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly chosen: string | undefined;
}

/** How the cards are arranged. Nothing chosen is the default, and is not in the address. */
function Arrange({ name, label, none, options, chosen }: ArrangeProps): VNode {
  return (
    <label>
      <span class="sr-only">{label}</span>
      <select name={name} id={`filter-${name}`}>
        <option value="">{`${label}: ${none.toLowerCase()}`}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === chosen}>
            {`${label}: ${option.label.toLowerCase()}`}
          </option>
        ))}
      </select>
    </label>
  );
}
