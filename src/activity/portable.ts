/** Exports the changes of an account to an archive, and imports them. */
import { z } from 'zod';
import {
  changedByName,
  type ImportTarget,
  type Instant,
  id,
  importSection,
  instantUpTo,
  text,
} from '../archive/records.ts';
import type { SectionWriter } from '../archive/writer.ts';
import { invalidField } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Snapshot } from '../store/table.ts';
import {
  activityChanges,
  activityHeads,
  CHANGE_ACTS,
  CHANGED_KINDS,
  type ChangeRecord,
  charsOf,
  putChange,
} from './records.ts';

const values = z.record(text(limits.activityNameCharsMax), z.unknown());

/** One line for each change, oldest first. */
export const changeRecord = (instant: Instant) =>
  z.strictObject({
    type: z.literal('change'),
    number: id,
    at: instant,
    kind: z.enum(CHANGED_KINDS),
    item: id,
    act: z.enum(CHANGE_ACTS),
    name: text(2 * limits.activityNameCharsMax),
    changed_by: changedByName,
    before: values,
    after: values,
  });

type Line = z.infer<ReturnType<typeof changeRecord>>;

export function exportActivity(snapshot: Snapshot, accountId: string, { write }: SectionWriter<Line>): void {
  for (const { key, value } of snapshot.entries(activityChanges, { prefix: [accountId] })) {
    const { at_ms: atMs, by, before, after, ...change } = value;
    const line: Line = {
      type: 'change',
      number: key[1],
      at: new Date(atMs).toISOString(),
      ...change,
      ...(by === null ? {} : { changed_by: by }),
      before: { ...before },
      after: { ...after },
    };
    write(line);
  }
}

/** Imports into an account without changes. */
export async function importActivity(target: ImportTarget): Promise<void> {
  const { actors, accountId, latestMs } = target;
  const actor = actors.account(accountId);
  let head = { number: 0, rows: 0, chars: 0 };
  await importSection(target, 'activity', changeRecord(instantUpTo(latestMs)), (line, wait) => {
    const { type: _, number, at, changed_by: by, ...change } = line;
    if (number <= head.number) throw invalidField('number', `number ${number} must be above ${head.number}`);
    const record: ChangeRecord = { at_ms: Date.parse(at), ...change, by: by ?? null };
    head = { number, rows: head.rows + 1, chars: head.chars + charsOf(record) };
    if (head.rows > limits.activityRowsMax) {
      throw invalidField('number', `there are more than ${limits.activityRowsMax} changes`);
    }
    if (head.chars > limits.activityCharsMax + limits.activityCharsOverMax) {
      throw invalidField('number', `the changes have more than ${limits.activityCharsMax} characters`);
    }
    const now = head;
    return wait(
      actor.ask((batch): void => {
        putChange(batch, accountId, number, record);
        batch.put(activityHeads, [accountId], now);
      }),
    );
  });
}
