/** The form in which a whole thing is given to a caller: that of the tool `fetch` which clients of assistants expect. */
import { z } from 'zod';
import type { Thing } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';

export const fetchInput = z.strictObject({
  id: z.string().min(1).max(limits.thingIdCharsMax).describe('An id of search, such as cairn://tasks/12'),
});

export const fetchedSchema = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string().describe('The whole text; empty: it has none'),
  url: z.string().describe('Its page'),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .describe('kind, changed_at, size_bytes and what a change needs, such as version or sha256'),
});

export const FETCHED_EXAMPLE: z.output<typeof fetchedSchema> = {
  id: 'cairn://tasks/7',
  title: 'Renew the certificate',
  text: 'Renew the certificate',
  url: 'https://hub.example.org/tasks/7',
  metadata: {
    kind: 'task',
    changed_at: '2026-11-21T08:00:00.000Z',
    size_bytes: 21,
    mime_type: 'text/plain',
    status: 'todo',
    version: 1,
  },
};

/** `baseUrl`: of the hub as the caller knows it. Throws Refusal `damaged`. */
export function fetched(thing: Thing, baseUrl: string): z.output<typeof fetchedSchema> {
  const { id, title, kind, mimeType, changedMs, sizeBytes, facts } = thing;
  const text = thing.text();
  return {
    id,
    title,
    text: text ?? '',
    url: baseUrl + thing.path,
    metadata: {
      kind,
      changed_at: new Date(changedMs).toISOString(),
      size_bytes: sizeBytes,
      mime_type: mimeType,
      ...(text === undefined ? { has_text: false } : {}),
      ...facts,
    },
  };
}
