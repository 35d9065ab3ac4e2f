/** Renders what can be done to selected tasks. It is shown while a card is selected, without script too. */
import type { VNode } from 'preact';
import { CsrfField, SubmitButton } from '../ui.tsx';
import type { BoardContext } from './card.tsx';
import { COLUMNS } from './columns.ts';
import { DUE_WORDS, MANY_FORM, MANY_PATH, NO_CATEGORY } from './many.ts';

/** Shows the box of each card. */
export function SelectToggle(): VNode {
  return (
    <label class="select-toggle check">
      <input type="checkbox" id="select-shown" />
      Select
    </label>
  );
}

export function ManyBar({ board }: { readonly board: BoardContext }): VNode {
  const { visit, back, categories } = board;
  return (
    <form class="many" id={MANY_FORM} method="post" action={MANY_PATH} data-swap aria-label="Selected tasks">
      <CsrfField csrf={visit.csrf} />
      <input type="hidden" name="back" value={back} />
      <output class="many-count" data-count>
        Selected
      </output>
      <Choice
        name="status"
        label="Column"
        options={COLUMNS.map(({ status, name }) => ({ value: status, label: name }))}
      />
      {categories.length === 0 ? null : (
        <Choice
          name="category"
          label="Category"
          options={[
            ...categories.map(({ id, name }) => ({ value: String(id), label: name })),
            { value: NO_CATEGORY, label: 'No category' },
          ]}
        />
      )}
      <Choice name="due" label="Due date" options={DUE_WORDS} />
      <label>
        <span class="sr-only">Due on</span>
        <input type="date" name="on" />
      </label>
      {/* First of the buttons: Enter in a field presses it. */}
      <SubmitButton look="small" name="act" value="apply">
        Change
      </SubmitButton>
      <SubmitButton look="small" name="act" value="done">
        Mark done
      </SubmitButton>
      <SubmitButton look="danger-quiet" name="act" value="delete">
        Delete
      </SubmitButton>
      <button class="button small quiet" type="reset">
        Clear<span class="sr-only"> the selection</span>
      </button>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** Nothing is chosen at first: what is not chosen stays as it is in each task. */
function Choice({ name, label, options }: ChoiceProps): VNode {
  return (
    <label>
      <span class="sr-only">{label}</span>
      <select name={name}>
        <option value="">{label}…</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
