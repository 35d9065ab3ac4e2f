/** Takes back all that somebody did since a time, for the tool that restores. */
import { planOnce } from '../../actors/once/calls.ts';
import { invalidField } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { turns } from '../../common/turns.ts';
import type { ChangeRef } from '../../events/logs.ts';
import type { Progress } from '../../gateway/asking/progress.ts';
import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import { isDone, type UndoOutcome } from '../../undo/outcome.ts';
import { type UndoneItem, undoChanges } from '../../undo/undo.ts';
import { type ThingPlace, thingPlaceOf } from '../things/ids.ts';
import { fileName, handoffOf, referenceOf, vaultOf } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { nameMeant, type Outcome, outcomesText } from './shown.ts';

export interface TakeBack {
  /** Only this thing, or this folder; undefined: all. */
  readonly id: string | undefined;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  /** Whose changes; undefined: the caller's own. */
  readonly by: string | undefined;
  readonly isDry: boolean;
  /** When the call began: what it does is after that. */
  readonly startMs: number;
  readonly progress: Progress | undefined;
}

const NAMES_SHOWN = 8;

/** Throws Refusal `invalid_fields` when there are more changes than one call takes back. */
export async function takeBack(shelves: Shelves, principal: Principal, asked: TakeBack) {
  const { accountId } = principal;
  const name = shelves.nameOf(principal);
  const { isDry, progress } = asked;
  const by = nameMeant(asked.by, name) ?? name;
  return await planOnce(
    ['take back'],
    async () => {
      const { refs, names } = await changesOf(shelves, accountId, { ...asked, by });
      const isMeant = asked.id === undefined ? undefined : await meantOf(shelves, accountId, thingPlaceOf(asked.id));
      const others = [...names].filter((one) => foldCase(one) !== foldCase(by)).slice(0, NAMES_SHOWN);
      return { changes: isMeant === undefined ? refs : refs.filter(isMeant), others, startMs: asked.startMs };
    },
    async ({ changes, others, startMs }) => {
      const who = { author: name, device: name };
      const items = await undoChanges(shelves, accountId, changes, { by: who, isDry, progress });
      const results = items
        .filter(({ outcome }) => outcome.kind !== 'same')
        .map((item) => shown(shelves, accountId, item, isDry));
      const { structured, text } = outcomesText(isDry ? 'would be taken back' : 'taken back', results);
      const [headline = '', ...lines] = text.split('\n');
      const again = `restore with since ${JSON.stringify(new Date(startMs).toISOString())} takes that back`;
      const note =
        results.length === 0
          ? changes.length === 0
            ? nothingOf(by, others)
            : 'all is as it was before'
          : isDry || !results.some(({ done }) => done)
            ? undefined
            : again;
      const head = [headline.replace(/:$/, ''), ...(note === undefined ? [] : [note])].join('; ');
      return { structured, text: [lines.length > 0 ? `${head}:` : head, ...lines].join('\n') };
    },
  );
}

function nothingOf(by: string, others: readonly string[]): string {
  return `nothing of ${by} since then${others.length === 0 ? '' : `, but of ${others.join(', ')}`}`;
}

/** What can be undone of somebody since a time, newest first, and who else changed something then. */
async function changesOf(
  { events }: Shelves,
  accountId: string,
  { by, sinceMs, untilMs }: TakeBack & { readonly by: string },
) {
  const refs: ChangeRef[] = [];
  const names = new Set<string>();
  let before: ReturnType<typeof events.past>['next'];
  do {
    if (turns.isOver) await turns.next(accountId);
    const page = events.past(accountId, before, { limit: limits.eventPageMax, sinceMs, untilMs, by });
    for (const one of page.names) names.add(one);
    refs.push(...page.changes.flatMap(({ ref }) => ref ?? []));
    if (refs.length > limits.activityUndoMax) {
      const most = `more than ${limits.activityUndoMax} changes of ${by}`;
      throw invalidField(
        'since',
        `there are ${most} since then; take a later since, then an earlier one; nothing was changed`,
      );
    }
    before = page.next;
  } while (before !== undefined);
  return { refs, names };
}

/** Whether a change is of the thing, or in the folder, that was named. */
async function meantOf(shelves: Shelves, accountId: string, place: ThingPlace): Promise<(ref: ChangeRef) => boolean> {
  if (place.kind === 'file') {
    const vaultId = await vaultOf(shelves, accountId, place);
    const folded = foldCase(place.path.replace(/\/+$/, ''));
    const isIn = (path: string) =>
      folded === '' || foldCase(path) === folded || foldCase(path).startsWith(`${folded}/`);
    return (ref) => ref.of === 'file' && ref.vaultId === vaultId && [ref.path, ref.from ?? ref.path].some(isIn);
  }
  const { kind, item } = recordOf(shelves, accountId, place);
  return (ref) => ref.of === 'record' && ref.kind === kind && ref.item === item;
}

function recordOf({ docs, handoffs }: Shelves, accountId: string, place: ThingPlace) {
  switch (place.kind) {
    case 'task':
      return { kind: 'tasks', item: place.id };
    case 'paper':
      return { kind: 'papers', item: place.id };
    case 'doc':
      return { kind: 'docs', item: docs.named(accountId, referenceOf(place)).id };
    case 'handoff':
      return { kind: 'handoffs', item: handoffOf(handoffs, accountId, place).record.id };
    default:
      throw invalidField('id', 'id must name a task, a document, a file or a folder; omit it for all');
  }
}

/** An item by the id that the other tools take, and what became of it. */
function shown(
  shelves: Shelves,
  accountId: string,
  { thing, name, kind, outcome }: UndoneItem,
  isDry: boolean,
): Outcome {
  const place = thingPlaceOf(thing);
  const id =
    place.kind === 'file' && place.vault !== undefined ? fileName(shelves, accountId, place.vault, place.path) : thing;
  const called = kind === 'files' ? '' : `${JSON.stringify(name)} `;
  return { id, done: isDone(outcome), says: `${called}${saysOf(outcome, isDry)}` };
}

function saysOf(outcome: UndoOutcome, isDry: boolean): string {
  switch (outcome.kind) {
    case 'kept':
      return `is left: ${outcome.why}`;
    case 'removed':
      return isDry ? 'is removed, as it was new' : 'removed, as it was new';
    case 'back':
      return 'is back';
    default:
      return 'as it was before';
  }
}
