/** Formats the URI of a handoff as a resource of the gateway. */
import type { HandoffRecord } from './declared.ts';

/** Returns the URI of the latest handoff of a project and topic. */
export function handoffUri({ project, topic }: Pick<HandoffRecord, 'project' | 'topic'>): string {
  return `cairn://handoffs/${encodeURIComponent(project)}/${encodeURIComponent(topic)}`;
}
