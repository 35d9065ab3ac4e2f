/** Declares handoffs as things with an id: read by it, and searched. */
import { documentThings } from '../things.ts';
import type { HandoffRecord } from './declared.ts';
import { handoffKind } from './kind.ts';
import { latestHandoff, unknownHandoff } from './lookup.ts';

const TEMPLATE = 'cairn://handoffs/{id}';

export const handoffThings = documentThings<HandoffRecord, unknown>(handoffKind, {
  kind: 'handoff',
  // The second names the latest one of a topic; an id must go on naming the same text.
  templates: [TEMPLATE, 'cairn://handoffs/{project}/{topic}'],
  named: (reader, accountId, { project = '', topic = '' }) => latestHandoff(reader, accountId, { project, topic })?.id,
  unnamed: unknownHandoff,
  shown: ({ id, project, topic, date, time }) => ({
    id: handoffId({ id }),
    what: 'handoff',
    note: `${project} / ${topic} of ${date}${time === null ? '' : ` ${time}`} KST`,
    title: topic,
    place: project,
    mimeType: 'text/markdown',
    facts: { project, topic, date, time },
  }),
});

/** The id of one handoff, also when a later one has the same topic. */
export function handoffId({ id }: { readonly id: number }): string {
  return TEMPLATE.replace('{id}', String(id));
}
