/** Owns the shape of what handoffs keep in the store. Members are named as callers see them; texts are versions. */
import { recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** A handoff without its text. */
export interface HandoffRecord {
  /** Counted per account and never given again. */
  readonly id: number;
  readonly project: string;
  readonly topic: string;
  /** YYYY-MM-DD in Korea Standard Time. */
  readonly date: string;
  /** HHMM in Korea Standard Time; null: the one of its day that has none. */
  readonly time: string | null;
  /** The beginning of the text on one line, so that no list loads a text. */
  readonly preview: string;
  /** Of the text that stands now, from 1. */
  readonly version: number;
  /** The text in UTF-8, and as a JSON string. */
  readonly size_bytes: number;
  readonly json_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** One row per account: the last number given. */
export interface HandoffHead {
  readonly handoff_id: number;
}

/** What an index row points to. */
interface HandoffRef {
  readonly id: number;
}

export const handoffs = defineTable<[accountId: string, handoffId: number], HandoffRecord>('handoffs', recordCodec(1), {
  account: 0,
});

export const handoffHeads = defineTable<[accountId: string], HandoffHead>('handoff_heads', recordCodec(1), {
  account: 0,
});

/** By what names one, as it is compared: twice, `when` is date and time, and time and date. */
export const handoffNames = defineTable<[accountId: string, project: string, topic: string, when: string], HandoffRef>(
  'handoff_names',
  recordCodec(1),
  { account: 0 },
);

/** By when they are of, in all of an account or in one project. `place` is date, time and number in one. */
export const handoffRows = defineTable<[accountId: string, scope: string, place: string], HandoffRef>(
  'handoff_rows',
  recordCodec(1),
  { account: 0 },
);

export const handoffTables: readonly AnyTable[] = [handoffs, handoffHeads, handoffNames, handoffRows];
