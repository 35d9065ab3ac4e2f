/** Defines the public form of the versions of a document. */
import { z } from 'zod';
import { changedBy, type Signed } from '../common/principal.ts';
import { changedByField } from '../fields/kinds.ts';
import type { Version } from './texts.ts';

/** A kept version in a list. */
export const keptVersion = z.object({
  version: z.int().positive(),
  size_bytes: z.int().nonnegative(),
  created_at: z.string().describe('ISO 8601 UTC'),
  changed_by: changedByField,
});

export function versionView(version: Version): z.infer<typeof keptVersion> {
  const { json_bytes: _, ...view } = version;
  return view;
}

/** Lists kept versions in the text of an answer. */
export function versionLines(versions: readonly z.infer<typeof keptVersion>[]): string {
  const lines = versions.map(
    ({ version, size_bytes, created_at }) => `${version} (${size_bytes} bytes, ${created_at})`,
  );
  return `\nkept versions: ${lines.join(', ')}`;
}

/** Returns the view of a document with the number, size, time and author of one version. */
export function asOfVersion<V extends Signed>(view: V, { version, size_bytes, created_at, changed_by }: Version): V {
  return changedBy({ ...view, version, size_bytes, updated_at: created_at }, changed_by);
}
