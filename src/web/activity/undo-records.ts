/** Takes back changes of tasks and documents, unless somebody has changed the same fields or lines since. */
import type { NumberedChange } from '../../activity/log.ts';
import type { FieldValues } from '../../activity/records.ts';
import { explain, Refusal } from '../../common/fault.ts';
import { devDocChange } from '../../documents/dev-docs/fields.ts';
import { paperChange } from '../../documents/papers/fields.ts';
import type { ReadDocument } from '../../documents/service.ts';
import { taskChange } from '../../tasks/fields.ts';
import { mergeTexts } from '../../text/merge.ts';
import type { Capabilities } from '../capabilities.ts';
import type { UndoOutcome } from './undo-files.ts';
import { planFields, type RecordUndo } from './undo-plan.ts';

export type RecordSources = Pick<Capabilities, 'activity' | 'tasks' | 'docs' | 'handoffs' | 'papers'>;

export async function undoRecord(
  sources: RecordSources,
  accountId: string,
  plan: RecordUndo,
  by: string,
): Promise<UndoOutcome> {
  try {
    return await UNDO[plan.kind](sources, accountId, plan, by);
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'kept', why: explain(error.fault) };
    throw error;
  }
}

type Undo = (sources: RecordSources, accountId: string, plan: RecordUndo, by: string) => Promise<UndoOutcome>;

const UNDO: Readonly<Record<RecordUndo['kind'], Undo>> = {
  async tasks({ activity, tasks }, accountId, plan, by) {
    const { item, isNew, wasDeleted, lastNumber } = plan;
    const since = changedSince(activity, accountId, plan);
    if (isNew || wasDeleted === true) {
      if (since !== undefined) return since;
      const { wasBinned } = await tasks.remove(accountId, item, by);
      return { kind: wasBinned ? 'same' : 'done' };
    }
    const current = tasks.find(accountId, item);
    if (current === undefined && wasDeleted === undefined) return since ?? { kind: 'kept', why: 'it is in the trash' };
    // In the trash it is as the last change of the session left it.
    const { write, kept } = planFields(plan, current === undefined ? plan.after : { ...current }, mergedText);
    const isRestored = current === undefined;
    const [first] = kept;
    if (first !== undefined) return keptBy(activity, accountId, plan, lastNumber);
    if (!isRestored && Object.keys(write).length === 0) return { kind: 'same' };
    await tasks.patch(accountId, item, tasks.read(accountId, taskChange, write), { by, restore: isRestored });
    return { kind: 'done' };
  },

  async docs({ activity, docs }, accountId, plan, by) {
    const { item, isNew, wasDeleted } = plan;
    const since = changedSince(activity, accountId, plan);
    if (isNew || wasDeleted === true) {
      if (since !== undefined) return since;
      await docs.remove(accountId, { id: item }, by);
      return { kind: 'done' };
    }
    if (wasDeleted === false) await docs.update(accountId, { id: item, restore: true }, by);
    const planned = plannedWrite(docs, accountId, plan);
    if (planned === undefined) return keptBy(activity, accountId, plan, plan.lastNumber);
    const { write } = planned;
    if (Object.keys(write).length === 0) return { kind: wasDeleted === false ? 'done' : 'same' };
    await docs.update(accountId, devDocChange.parse({ ...write, id: item }), by);
    return { kind: 'done' };
  },

  async handoffs({ activity, handoffs }, accountId, plan, by) {
    if (plan.isNew) return { kind: 'kept', why: 'a handoff cannot be deleted' };
    const planned = plannedWrite(handoffs, accountId, plan);
    if (planned === undefined) return keptBy(activity, accountId, plan, plan.lastNumber);
    const content = planned.write['content'];
    if (typeof content !== 'string') return { kind: 'same' };
    const { project, topic, date, time } = planned.record;
    await handoffs.save(accountId, { project, topic, date, ...(time === null ? {} : { time }), content }, by);
    return { kind: 'done' };
  },

  async papers({ activity, papers }, accountId, plan, by) {
    const { item, isNew, wasDeleted } = plan;
    const since = changedSince(activity, accountId, plan);
    if (isNew || wasDeleted === true) {
      if (since !== undefined) return since;
      await papers.remove(accountId, item, by);
      return { kind: 'done' };
    }
    if (wasDeleted === false) await papers.patch(accountId, item, { restore: true }, by);
    const planned = plannedWrite(papers, accountId, plan);
    if (planned === undefined) return keptBy(activity, accountId, plan, plan.lastNumber);
    // It follows from `published`.
    const { published_at: _, ...fields } = planned.write;
    if (Object.keys(fields).length === 0) return { kind: wasDeleted === false ? 'done' : 'same' };
    await papers.patch(accountId, item, paperChange.parse(fields), by);
    return { kind: 'done' };
  },
};

/** A document as it is, and what an undo writes to it; undefined: it has changed since. */
function plannedWrite<R extends object>(
  documents: { openById(accountId: string, id: number, version?: number): ReadDocument<R> },
  accountId: string,
  plan: RecordUndo,
): { readonly record: R; readonly write: FieldValues } | undefined {
  const { record, content } = documents.openById(accountId, plan.item);
  const textOf = (version: unknown) => documents.openById(accountId, plan.item, Number(version)).content;
  const { write, kept } = planFields(withTexts(plan, textOf), { ...record, content }, mergedText);
  return kept.length > 0 ? undefined : { record, write };
}

/** The texts in place of the versions that name them. */
function withTexts(plan: RecordUndo, textOf: (version: unknown) => ReadDocument<never>['content']): RecordUndo {
  // Changes of papers of earlier releases have the text that they replaced.
  const swap = ({ version, ...rest }: FieldValues): FieldValues =>
    version === undefined || rest['content'] !== undefined ? rest : { ...rest, content: textOf(version) };
  return { ...plan, before: swap(plan.before), after: swap(plan.after) };
}

/** Undefined: nothing has changed the item since. */
function changedSince(
  activity: RecordSources['activity'],
  accountId: string,
  plan: Pick<RecordUndo, 'kind' | 'item' | 'lastNumber'>,
): UndoOutcome | undefined {
  const newest = activity.newestOf(accountId, plan.kind, plan.item);
  return newest === undefined || newest === plan.lastNumber
    ? undefined
    : keptBy(activity, accountId, plan, plan.lastNumber);
}

function keptBy(
  activity: RecordSources['activity'],
  accountId: string,
  { kind, item }: Pick<RecordUndo, 'kind' | 'item'>,
  lastNumber: number,
): UndoOutcome {
  const later = activity.of(accountId, kind, item, 1)[0] satisfies NumberedChange | undefined;
  const by = later === undefined || later.number === lastNumber ? null : later.by;
  return { kind: 'kept', why: by === null ? 'changed since' : `changed since by ${by}` };
}

function mergedText(texts: {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}): string | undefined {
  const labels = { base: '', ours: '', theirs: '' };
  const { content, conflicts } = mergeTexts(texts, { favor: 'none', style: 'merge', labels });
  return conflicts === 0 ? content : undefined;
}
