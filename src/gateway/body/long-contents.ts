/** Finds long file contents in a gateway body, for the job that parses it. Pure. */
import { isRecord } from '../../fields/is-record.ts';
import { limits } from '../../limits/service.ts';
import type { BodyForm, RawContent } from '../../pool/jobs.ts';

/** An object of a document with a long text as `content`. */
export interface ContentHolder {
  content: unknown;
  encoding?: unknown;
}

/** The objects that may have contents in the arguments of calls: the arguments themselves, and the items of `files`. */
export function contentPlaces(document: unknown, form: BodyForm): readonly unknown[] {
  return argumentsIn(document, form).flatMap((args) => {
    const { files } = args as { readonly files?: unknown };
    return [args, ...(Array.isArray(files) ? (files as readonly unknown[]) : [])];
  });
}

/** The content and encoding of a holder. An invalid encoding counts as UTF-8 here; `input` refuses it later. */
export function rawContent({ content, encoding }: ContentHolder): RawContent {
  return { text: content as string, encoding: encoding === 'base64' ? 'base64' : 'utf-8' };
}

function argumentsIn(document: unknown, form: BodyForm): readonly object[] {
  if (form.kind === 'document') return [];
  if (form.kind === 'arguments') return [document].filter(isRecord);
  const messages: readonly unknown[] = Array.isArray(document) ? document : [document];
  return messages.flatMap((message) => {
    const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: unknown };
    if (method !== 'tools/call' || !isRecord(params)) return [];
    const { name, arguments: args } = params;
    return form.contentTools.includes(name as string) && isRecord(args) ? [args] : [];
  });
}

/** True for a place with a long content. */
export function holdsLong(value: unknown): value is ContentHolder {
  if (!isRecord(value)) return false;
  return typeof value['content'] === 'string' && value['content'].length > limits.inlineContentBytesMax;
}
