/** Words of what an undo did. Pure. */
import { countWithNoun } from '../../text/count.ts';
import { isDone } from '../../undo/outcome.ts';
import type { UndoneItem } from '../../undo/undo.ts';

/** True when something was changed. */
export const isAnyDone = (items: readonly UndoneItem[]): boolean => items.some(({ outcome }) => isDone(outcome));

/** `Undone: 6 files, 3 tasks. 1 was left alone: notes.md, changed since by phone.` */
export function undoneText(items: readonly UndoneItem[]): string {
  const counted = (kind: UndoneItem['kind'], one: string) => {
    const count = items.filter((item) => item.kind === kind && isDone(item.outcome)).length;
    return count === 0 ? [] : [countWithNoun(count, one)];
  };
  const parts = [...counted('files', 'file'), ...counted('tasks', 'task'), ...counted('documents', 'document')];
  const kept = keptOf(items);
  const [first] = kept;
  const left =
    first === undefined
      ? []
      : [
          `${kept.length} ${kept.length === 1 ? 'was' : 'were'} left alone${kept.length === 1 ? '' : ', such as'}: ${first.name}, ${first.why}.`,
        ];
  const whole =
    parts.length === 0 ? (first === undefined ? ['Nothing was left to undo.'] : []) : [`Undone: ${parts.join(', ')}.`];
  return [...whole, ...left].join(' ');
}

/** What was left alone, and why. */
export function keptOf(items: readonly UndoneItem[]): { readonly name: string; readonly why: string }[] {
  return items.flatMap(({ name, outcome }) => (outcome.kind === 'kept' ? [{ name, why: outcome.why }] : []));
}
