/** Owns how a paper looks from outside. */
import type { ShownPaper } from './service.ts';

export function paperView({ paper, content }: ShownPaper): Readonly<Record<string, unknown>> {
  const { id, title, category_id, published, published_at, version, size_bytes, created_at, updated_at } = paper;
  return {
    id,
    title,
    ...(content === undefined ? {} : { content }),
    category_id,
    published,
    published_at,
    version,
    size_bytes,
    created_at,
    updated_at,
  };
}
