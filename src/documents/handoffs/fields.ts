/** Defines what callers send for a handoff, and what names one. */
import { z } from 'zod';
import { day } from '../../fields/kinds.ts';
import { isTimeOfDay } from '../../time/kst.ts';
import { documentText } from '../texts.ts';
import { declaredHandoff } from './declared.ts';

const { project, topic } = declaredHandoff.inputs;

/** Fields that identify a handoff. */
export const handoffReference = {
  project: project.describe('In any case'),
  topic: topic.describe('A part of it'),
};
export const handoffDay = day.optional();
export const handoffTime = z
  .string({ error: 'must be HHMM from 0000 to 2359 in Korea Standard Time, such as "1430"' })
  .length(4)
  .refine(isTimeOfDay)
  .optional()
  .describe('HHMM');

export const newHandoff = z.strictObject({
  ...handoffReference,
  content: documentText.min(1).describe('At most 1 MiB'),
  date: handoffDay.describe('Korea Standard Time; default today'),
  time: handoffTime,
  ...declaredHandoff.newInput.omit({ project: true, topic: true }).shape,
});

export type NewHandoff = z.output<typeof newHandoff>;
