/** Owns the address of a handoff among the resources of the gateway. */
import type { HandoffRecord } from './records.ts';

export const HANDOFF_TEMPLATE = 'cairn://handoffs/{project}/{topic}';

/** The latest of its project and topic. */
export function handoffUri({ project, topic }: Pick<HandoffRecord, 'project' | 'topic'>): string {
  return `cairn://handoffs/${encodeURIComponent(project)}/${encodeURIComponent(topic)}`;
}
