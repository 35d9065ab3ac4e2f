/** Declares handoffs as a kind of documents: found by name and date, replaced texts kept for a while, a preview. */
import { z } from 'zod';
import { whole } from '../../archive/records.ts';
import { invalidField } from '../../common/fault.ts';
import { oneLine } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { defineKind, indexRow } from '../kind.ts';
import { checkNumber } from '../rules.ts';
import { measure } from '../texts.ts';
import { declaredHandoff, type HandoffRecord } from './declared.ts';
import { type HandoffHead, handoffHeads, handoffNames, handoffRows, handoffs } from './records.ts';
import { handoffScope, nameKeys, placeOf } from './rules.ts';

export const handoffKind = defineKind({
  space: 'handoffs',
  one: 'handoff',
  records: handoffs,
  heads: handoffHeads,
  lastId: ({ handoff_id: last }: HandoffHead) => last,
  nameOf: ({ project, topic }: HandoffRecord) => `${project}: ${topic}`,
  fields: Object.keys(declaredHandoff.inputs),
  keeps: 'days',
  factsOf: (text) => ({ ...measure(text), preview: previewOf(text) }),
  rowsOf(accountId, handoff: HandoffRecord) {
    const ref = { id: handoff.id };
    const scopes = [handoffScope(undefined), handoffScope(handoff.project)];
    return [
      ...nameKeys(handoff).map((key) => indexRow(handoffNames, [accountId, ...key], ref, 'not found by name')),
      ...scopes.map((scope) =>
        indexRow(handoffRows, [accountId, scope, placeOf(handoff)], ref, `is not in list ${scope}`),
      ),
    ];
  },
  indexes: { 'names of handoffs': handoffNames, 'lists of handoffs': handoffRows },
  archive: {
    section: 'handoffs',
    type: 'handoff',
    counters: () => z.strictObject({ handoff_id: whole }),
    line: (instant) => declaredHandoff.archivedAs('handoff', instant),
    order: ({ id }) => id,
    countersOf: (head, { id }) => ({ handoff_id: Math.max(head?.handoff_id ?? 0, id) }),
    headOf: ({ handoff_id }) => ({ handoff_id }),
    lineOf: (handoff) => handoff,
    read(handoff, { last, head }) {
      checkNumber(handoff.id, last, head.handoff_id);
      return handoff;
    },
    admit(batch, accountId, handoff) {
      const isTaken = nameKeys(handoff).some((key) => batch.get(handoffNames, [accountId, ...key]) !== undefined);
      if (isTaken) throw invalidField('topic', 'another handoff has this name');
    },
  },
});

/** Returns the beginning of a text on one line. */
function previewOf(content: string): string {
  const { handoffPreviewCharsMax: previewChars } = limits;
  // White space can make up most of the beginning.
  return oneLine(content.slice(0, previewChars * 8), previewChars);
}
