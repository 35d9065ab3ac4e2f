/** Declares the fields that most records have: number, version, times, and who changed it. */
import { z } from 'zod';
import { changedByField } from '../fields/kinds.ts';
import { hubField, internalField } from '../fields/record.ts';
import { changedByName, id } from './records.ts';

const EXAMPLE_AT = '2026-11-20T20:18:57.123Z';

export const numberField = (example: number) =>
  hubField(z.int().positive().describe('Counted per account'), { archived: () => id, example });

export const timeField = hubField(z.string().describe('ISO 8601 UTC'), {
  archived: (instant) => instant,
  example: EXAMPLE_AT,
});

/** A time that may not have come; null until then. */
export const maybeTimeField = hubField(z.string().nullable().describe('ISO 8601 UTC'), {
  archived: (instant) => instant.nullable(),
  example: null,
});

/** Time of deletion; null while the record is live. */
export const deletedAtField = internalField<string | null>((instant) => instant.nullable());

/** Who made the latest change, also a deletion: the name of a key, device, app or browser; absent: unknown. */
export const signedField = hubField(changedByField, { archived: () => changedByName, example: 'laptop' });
