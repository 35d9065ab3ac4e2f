/** Defines the tables of handoffs. Members have the names that callers see. Texts are stored as versions. */
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';
import type { HandoffRecord } from './declared.ts';

/** One row per account: the last number assigned. */
export interface HandoffHead {
  readonly handoff_id: number;
}

/** Target of an index row. */
interface HandoffRef {
  readonly id: number;
}

export const handoffs = defineTable<[accountId: string, handoffId: number], HandoffRecord>('handoffs', recordCodec(1), {
  account: 0,
});

export const handoffHeads = defineTable<[accountId: string], HandoffHead>('handoff_heads', recordCodec(1), {
  account: 0,
});

/** Handoffs by folded name. Each has two rows: `when` is date and time in one, time and date in the other. */
export const handoffNames = defineTable<[accountId: string, project: string, topic: string, when: string], HandoffRef>(
  'handoff_names',
  recordCodec(1),
  { account: 0 },
);

/** Handoffs by date and time, of an account or of one project. `place` combines date, time and number. */
export const handoffRows = defineTable<[accountId: string, scope: string, place: string], HandoffRef>(
  'handoff_rows',
  recordCodec(1),
  { account: 0 },
);

export const handoffTables: readonly AnyTable[] = [handoffs, handoffHeads, handoffNames, handoffRows];
