/** Declares the fields of handoffs. All that answers show and archives hold follows from it. */
import { z } from 'zod';
import { numberField, signedField, timeField } from '../../archive/usual-fields.ts';
import { printableName, visible } from '../../fields/kinds.ts';
import { computedField, declareRecord, hubField, type RecordOf, requiredField } from '../../fields/record.ts';
import { limits } from '../../limits/service.ts';
import { isCalendarDate } from '../../time/calendar.ts';
import { isTimeOfDay } from '../../time/kst.ts';
import { textFields } from '../kind.ts';

const handoffName = visible(printableName(limits.handoffNameCharsMax));

const handoffFields = {
  id: numberField(1),
  project: requiredField(handoffName, { example: 'cairn' }),
  topic: requiredField(handoffName, { example: 'release' }),
  date: hubField(z.string().describe('YYYY-MM-DD in Korea Standard Time'), {
    archived: () => z.string().refine(isCalendarDate, 'must be a calendar date'),
    example: '2026-11-21',
  }),
  /** Null for the one handoff of its day without a time. */
  time: hubField(z.string().nullable().describe('HHMM in Korea Standard Time; null for none'), {
    archived: () => z.string().refine(isTimeOfDay, 'must be HHMM').nullable(),
    example: '0930',
  }),
  ...textFields('Rises with each replacement', 32),
  /** Beginning of the text on one line, so that listing loads no texts. */
  preview: computedField<string>(),
  created_at: timeField,
  updated_at: timeField,
  changed_by: signedField,
};

export const declaredHandoff = declareRecord(handoffFields);

/** Fields that have no words and no control of their own. */
export const otherHandoffInputs = declaredHandoff.inputsBeside(['project', 'topic']);

/** A handoff without its text. */
export type HandoffRecord = RecordOf<typeof handoffFields>;
