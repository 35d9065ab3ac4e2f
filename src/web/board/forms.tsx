/** Renders the forms of one task: the one for new tasks on the board, and the edit page. */
import type { VNode } from 'preact';
import { declaredTask, type TaskRecord } from '../../tasks/declared.ts';
import {
  Checkbox,
  Field,
  FormErrors,
  OpenedVersion,
  type Problem,
  SavedElsewhere,
  Select,
  TextArea,
} from '../fields.tsx';
import { OtherFields } from '../other-fields.tsx';
import { By, CsrfField, Form, Moment, SubmitButton } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';
import type { BoardContext } from './card.tsx';
import { COLUMNS } from './columns.ts';
import { openedFields } from './merge-task.ts';

/** Fields of a task that the forms have no control of their own for. `completed` follows the column. */
export const OTHER_FIELDS = declaredTask.inputsBeside([
  'content',
  'due_date',
  'is_important',
  'completed',
  'category_id',
  'kanban_status',
]);

/** Names the field that says what a form was opened with. */
export const OPENED = 'opened';

/** The fields of a task that its form changes. */
const FORM_FIELDS = [
  'content',
  'due_date',
  'is_important',
  'kanban_status',
  'category_id',
  ...OTHER_FIELDS.map(({ name }) => name),
];

export function NewTask({
  board,
  problem,
  isNext,
}: {
  readonly board: BoardContext;
  readonly problem: Problem | undefined;
  /** A task was just added: the field is focused for the next one. */
  readonly isNext: boolean;
}): VNode {
  const form = 'new';
  const { visit, filter, back } = board;
  const isOpen = problem?.form === form;
  return (
    <form class="new-task" method="post" action="/tasks" data-swap>
      <CsrfField csrf={visit.csrf} />
      <input type="hidden" name="back" value={back} />
      <FormErrors form={form} problem={problem} shown={['content', 'due_date']} />
      {filter.category === undefined ? null : <input type="hidden" name="category" value={filter.category} />}
      <div class="inline-form">
        <Field
          form={form}
          name="content"
          label="New task"
          autofocus={isNext}
          placeholder="New task"
          problem={problem}
        />
        <SubmitButton look="primary">Add</SubmitButton>
      </div>
      <details class="more" id="new-more" open={isOpen}>
        <summary>Due date, column and more</summary>
        <TaskFacts form={form} board={board} problem={problem} task={undefined} />
      </details>
    </form>
  );
}

interface TaskFactsProps {
  readonly form: string;
  readonly board: BoardContext;
  readonly problem: Problem | undefined;
  /** Undefined for a new one. */
  readonly task: TaskRecord | undefined;
}

function TaskFacts({ form, board, problem, task }: TaskFactsProps): VNode {
  const { categories, filter } = board;
  const chosen = task === undefined ? filter.category : task.category_id;
  return (
    <div class="facts">
      <Field
        form={form}
        name="due_date"
        label="Due date"
        type="date"
        required={false}
        value={task?.due_date ?? ''}
        problem={problem}
      />
      <Select
        form={form}
        name="kanban_status"
        label="Column"
        value={task?.kanban_status ?? 'todo'}
        options={COLUMNS.map(({ status, name }) => ({ value: status, label: name }))}
        problem={problem}
      />
      {categories.length === 0 ? null : (
        <Select
          form={form}
          name="category_id"
          label="Category"
          value={String(chosen ?? '')}
          options={[
            { value: '', label: 'None' },
            ...categories.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          problem={problem}
        />
      )}
      <Checkbox
        form={form}
        name="is_important"
        label="Important"
        checked={task?.is_important ?? false}
        problem={problem}
      />
      <OtherFields form={form} inputs={OTHER_FIELDS} record={task} problem={problem} />
    </div>
  );
}

export interface EditTaskProps {
  readonly board: BoardContext;
  readonly task: TaskRecord;
  readonly problem: Problem | undefined;
}

export function EditTask({ board, task, problem }: EditTaskProps): VNode {
  const form = 'edit';
  const { visit } = board;
  return (
    <div class="narrow wide">
      <h1>Edit task</h1>
      <TaskHistory task={task} visit={visit} />
      <Form csrf={visit.csrf} action={`/tasks/${task.id}`} draft={`/tasks/${task.id}`}>
        <FormErrors form={form} problem={problem} shown={['content', 'due_date']} />
        <OpenedVersion problem={problem} current={task.version} />
        <input type="hidden" name={OPENED} value={openedText(task, problem)} />
        <TextArea form={form} name="content" label="Task" rows={6} value={task.content} problem={problem} />
        <SavedElsewhere problem={problem} text={task.content} />
        <TaskFacts form={form} board={board} problem={problem} task={task} />
        <div class="actions">
          <SubmitButton look="primary">Save</SubmitButton>
          <a class="button" href={`/tasks#task-${task.id}`}>
            Back to the board
          </a>
        </div>
      </Form>
      <Form csrf={visit.csrf} action={`/tasks/${task.id}/delete`} class="">
        <SubmitButton look="danger-quiet">Delete this task</SubmitButton>
      </Form>
    </div>
  );
}

/** The fields that the form was opened with, for a merge; after a refused save, those that are now on the page. */
function openedText(task: TaskRecord, problem: Problem | undefined): string {
  const kept = problem?.fields['form'] === undefined ? problem?.values[OPENED] : undefined;
  return kept ?? JSON.stringify(openedFields(task, FORM_FIELDS));
}

/** When the task was added, and when and by whom it was last changed. */
function TaskHistory({ task, visit }: { readonly task: TaskRecord; readonly visit: MemberVisit }): VNode {
  const { created_at: createdAt, updated_at: updatedAt, changed_by: name } = task;
  const isNew = createdAt === updatedAt;
  return (
    <p class="meta">
      Added <Moment at={createdAt} zone={visit.zone} />
      {isNew ? (
        <By name={name} visit={visit} />
      ) : (
        <>
          {' · last changed '}
          <Moment at={updatedAt} zone={visit.zone} />
          <By name={name} visit={visit} />
        </>
      )}
    </p>
  );
}
