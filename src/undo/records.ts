/** Takes back changes of tasks and documents, unless somebody has changed the same fields or lines since. */
import type { ActivityLog } from '../activity/log.ts';
import type { FieldValues } from '../activity/records.ts';
import { declaredDoc } from '../documents/dev-docs/declared.ts';
import { devDocChange } from '../documents/dev-docs/fields.ts';
import type { DevDocs } from '../documents/dev-docs/service.ts';
import { newHandoff } from '../documents/handoffs/fields.ts';
import type { Handoffs } from '../documents/handoffs/service.ts';
import type { DocumentRecord } from '../documents/kind.ts';
import { paperChange } from '../documents/papers/fields.ts';
import type { Papers } from '../documents/papers/service.ts';
import { taskChange } from '../tasks/fields.ts';
import type { Tasks } from '../tasks/service.ts';
import { mergeTexts } from '../text/merge.ts';
import { keptIfRefused, type LeftAlone, type UndoOutcome } from './outcome.ts';
import { planFields, type RecordUndo } from './plan.ts';

export interface RecordSources {
  readonly activity: ActivityLog;
  readonly tasks: Tasks;
  readonly docs: DevDocs;
  readonly handoffs: Handoffs;
  readonly papers: Papers;
}

/** What an undo does to a task or document at `version`. */
export type RecordStep =
  | { readonly kind: 'same' }
  | LeftAlone
  | (Place & { readonly kind: 'remove' })
  | (Place & { readonly kind: 'change'; readonly write: FieldValues; readonly restore: boolean });

interface Place {
  readonly of: RecordUndo['kind'];
  readonly item: number;
  readonly version: number;
}

/** A record as it is. */
interface Held {
  readonly version: number;
  readonly fields: FieldValues;
  readonly isBinned: boolean;
}

/** Decides what becomes of a task or document. Writes nothing. */
export function decideRecord(sources: RecordSources, accountId: string, plan: RecordUndo): RecordStep {
  const { kind, item, isNew, wasDeleted } = plan;
  const held = heldOf(sources, accountId, plan);
  if (held === undefined) return { kind: 'kept', why: 'it is no longer kept' };
  const place = { of: kind, item, version: held.version };
  if (isNew || wasDeleted === true) {
    if (kind === 'handoffs') return { kind: 'kept', why: 'a handoff cannot be deleted' };
    const others = othersSince(sources.activity, accountId, plan);
    // In the trash as it was before, or put there by the same hand.
    if (held.isBinned) return { kind: 'same' };
    return others ?? { kind: 'remove', ...place };
  }
  if (held.isBinned && wasDeleted === undefined)
    return othersSince(sources.activity, accountId, plan) ?? { kind: 'kept', why: 'it is in the trash' };
  const texts = withTexts(sources, accountId, plan);
  if (texts === undefined) return { kind: 'kept', why: 'its earlier version is no longer kept' };
  const { write, kept } = planFields(texts, held.fields, mergedText);
  if (kept.length > 0) return keptBy(sources.activity, accountId, plan);
  const restore = held.isBinned;
  if (!restore && Object.keys(write).length === 0) return { kind: 'same' };
  return { kind: 'change', ...place, write, restore };
}

/** A record with its text, also one in the trash; undefined: it is no longer kept. */
function heldOf(
  { tasks, ...documents }: RecordSources,
  accountId: string,
  { kind, item }: RecordUndo,
): Held | undefined {
  if (kind === 'tasks') {
    const task = tasks.stored(accountId, item);
    return task && { version: task.version, fields: { ...task }, isBinned: task.deleted_at !== null };
  }
  const found = documents[kind].stored(accountId, item);
  return (
    found && {
      version: found.record.version,
      fields: { ...found.record, content: found.content },
      isBinned: (found.record as DocumentRecord).deleted_at != null,
    }
  );
}

/** The texts in place of the versions that name them; undefined: one of them is no longer kept. */
function withTexts(sources: RecordSources, accountId: string, plan: RecordUndo): RecordUndo | undefined {
  const { kind, item } = plan;
  if (kind === 'tasks') return plan;
  // Changes of papers of earlier releases have the text that they replaced.
  const swap = ({ version, ...rest }: FieldValues): FieldValues | undefined => {
    if (version === undefined || rest['content'] !== undefined) return rest;
    const content = sources[kind].stored(accountId, item, Number(version))?.content;
    return content === undefined ? undefined : { ...rest, content };
  };
  const [before, after] = [swap(plan.before), swap(plan.after)];
  return before && after && { ...plan, before, after };
}

/** Does a step; what changed since it was decided is left. `by`: who is named. */
export async function undoRecord(
  { tasks, docs, handoffs, papers }: RecordSources,
  accountId: string,
  step: RecordStep,
  { by, isDry }: { readonly by: string; readonly isDry: boolean },
): Promise<UndoOutcome> {
  return await keptIfRefused(async (): Promise<UndoOutcome> => {
    if (step.kind === 'same' || step.kind === 'kept') return step;
    const { of, item, version } = step;
    const done = { kind: step.kind === 'remove' ? 'removed' : step.restore ? 'back' : 'changed' } as const;
    if (isDry) return done;
    if (step.kind === 'remove') {
      if (of === 'tasks') await tasks.remove(accountId, item, by, version);
      else if (of === 'docs') await docs.remove(accountId, { id: item }, by, version);
      else if (of === 'papers') await papers.remove(accountId, item, by, version);
      return done;
    }
    const restore = step.restore ? { restore: true } : {};
    const change = { ...step.write, expected_version: version };
    if (of === 'tasks') {
      await tasks.patch(accountId, item, tasks.read(accountId, taskChange, change), { by, ...restore });
    } else if (of === 'docs') {
      await undoDoc(docs, accountId, { item, version, write: { ...step.write, ...restore } }, by);
    } else if (of === 'papers') {
      // `published_at` follows from `published`.
      const { published_at: _, ...fields } = change as FieldValues;
      await papers.patch(accountId, item, paperChange.parse({ ...fields, ...restore }), by);
    } else {
      const { project, topic, date, time } = handoffs.openById(accountId, item).record;
      const named = { project, topic, date, ...(time === null ? {} : { time }) };
      const save = newHandoff.parse({ ...named, ...step.write });
      await handoffs.save(accountId, { ...save, expected_version: version }, by);
    }
    return done;
  });
}

/** Gives a dev doc its earlier fields, then its earlier name. */
async function undoDoc(
  docs: DevDocs,
  accountId: string,
  { item: id, version, write }: { readonly item: number; readonly version: number; readonly write: FieldValues },
  by: string,
): Promise<void> {
  const { title, category, ...fields } = write;
  const isNamed = title !== undefined || category !== undefined;
  let now = version;
  if (!isNamed || Object.keys(fields).length > 0)
    now = (await docs.update(accountId, devDocChange.parse({ ...fields, id, expected_version: version }), by)).version;
  if (isNamed) await docs.move(accountId, { id }, declaredDoc.changeInput.parse({ title, category }), by, now);
}

/** Undefined: nobody else has changed the item since the first of the changes. */
function othersSince(
  activity: ActivityLog,
  accountId: string,
  { kind, item, numbers }: RecordUndo,
): LeftAlone | undefined {
  const [first = 0] = numbers;
  const later = activity.of(accountId, kind, item, numbers.length + 1).find(({ number }) => {
    return number > first && !numbers.includes(number);
  });
  return later && { kind: 'kept', why: changedSinceBy(later.by) };
}

function keptBy(activity: ActivityLog, accountId: string, plan: RecordUndo): LeftAlone {
  return othersSince(activity, accountId, plan) ?? { kind: 'kept', why: changedSinceBy(null) };
}

const changedSinceBy = (by: string | null): string => (by === null ? 'changed since' : `changed since by ${by}`);

function mergedText(texts: {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}): string | undefined {
  const labels = { base: '', ours: '', theirs: '' };
  const { content, conflicts } = mergeTexts(texts, { favor: 'none', style: 'merge', labels });
  return conflicts === 0 ? content : undefined;
}
