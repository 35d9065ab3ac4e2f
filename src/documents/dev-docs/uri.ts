/** Builds the URI of a dev doc as a resource of the gateway. */
import type { DevDocRecord } from './records.ts';

export const DOC_TEMPLATE = 'cairn://docs/{category}/{title}';

export function docUri({ category, title }: Pick<DevDocRecord, 'category' | 'title'>): string {
  return `cairn://docs/${encodeURIComponent(category)}/${encodeURIComponent(title)}`;
}
