/** Formats the URI of a dev doc as a resource of the gateway, names the media type of its text, and its group in searches. */
import type { ContentType, DevDocRecord } from './declared.ts';

export const DOC_TEMPLATE = 'cairn://docs/{category}/{title}';

export const MEDIA_TYPES: Readonly<Record<ContentType, string>> = {
  markdown: 'text/markdown',
  json: 'application/json',
  yaml: 'application/yaml',
  text: 'text/plain',
};

/** The group in which the dev docs of a category are searched. */
export const docGroup = (category: string): string => `doc ${category}`;

export function docUri({ category, title }: Pick<DevDocRecord, 'category' | 'title'>): string {
  return `cairn://docs/${encodeURIComponent(category)}/${encodeURIComponent(title)}`;
}
