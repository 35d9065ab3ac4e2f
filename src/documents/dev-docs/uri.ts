/** Formats the URI of a dev doc as a resource of the gateway, and names the media type of its text. */
import type { ContentType, DevDocRecord } from './declared.ts';

export const DOC_TEMPLATE = 'cairn://docs/{category}/{title}';

export const MEDIA_TYPES: Readonly<Record<ContentType, string>> = {
  markdown: 'text/markdown',
  json: 'application/json',
  yaml: 'application/yaml',
  text: 'text/plain',
};

export function docUri({ category, title }: Pick<DevDocRecord, 'category' | 'title'>): string {
  return `cairn://docs/${encodeURIComponent(category)}/${encodeURIComponent(title)}`;
}
