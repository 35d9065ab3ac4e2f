/** The history of one task, newest first: who changed what, with an undo for each change. */
import type { VNode } from 'preact';
import type { NumberedChange } from '../../activity/log.ts';
import type { MemberVisit } from '../pages.ts';
import { FieldChanges } from '../rendering/field-changes.tsx';
import { By, Form, Moment, SubmitButton } from '../ui.tsx';

const VERBS = { created: 'Added', changed: 'Changed', deleted: 'Deleted', restored: 'Restored' } as const;

export interface TaskChangesProps {
  readonly visit: MemberVisit;
  readonly changes: readonly NumberedChange[];
  readonly categories: readonly { readonly id: number; readonly name: string }[];
}

export function TaskChanges({ visit, changes, categories }: TaskChangesProps): VNode | null {
  if (changes.length === 0) return null;
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  return (
    <section class="panel" aria-labelledby="task-history">
      <h2 id="task-history">History</h2>
      <ul class="rows">
        {changes.map((change) => (
          <li key={change.number} class="row entry">
            <div class="row-main">
              <span class="verb">{VERBS[change.act]}</span>
              <By name={change.by} visit={visit} />
              <FieldChanges before={change.before} after={change.after} categoryName={(id) => names.get(id)} />
            </div>
            <div class="entry-acts">
              <span class="meta">
                <Moment at={change.at_ms} zone={visit.zone} />
              </span>
              {change.after['content'] === undefined ? null : (
                <a class="button small" href={`/activity/change/${change.number}`}>
                  Changes
                </a>
              )}
              {change.act === 'created' ? null : <UndoChange visit={visit} change={change} />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function UndoChange({ visit, change }: { readonly visit: MemberVisit; readonly change: NumberedChange }): VNode {
  const at = String(change.at_ms);
  const fields = {
    ...(change.by === null ? {} : { by: change.by }),
    first: at,
    last: at,
    number: String(change.number),
    back: `/tasks/${change.item}`,
  };
  return (
    <Form csrf={visit.csrf} action="/activity/undo" class="">
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <SubmitButton look="small">
        Undo<span class="sr-only"> this change</span>
      </SubmitButton>
    </Form>
  );
}
