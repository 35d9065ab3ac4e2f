/** The manifest of a repository's archive: what is in it, what the refs are, what was left out. Pure. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const oid = z.string().regex(/^[0-9a-f]{40}$/);
const hex64 = z.string().regex(/^[0-9a-f]{64}$/);
const refName = z.string().regex(/^refs\/[^\0-\u0020\u007f~^:?*[\\]+$/);

/** Name, object, and for a symbolic ref its target. */
const ref = z.tuple([refName, oid, refName.nullable()]);

export type Ref = z.infer<typeof ref>;

/** A git folder below the repository's own, such as `modules/library`. */
const gitPath = z.string().regex(/^modules(\/(?!\.{1,2}(\/|$))[^/\p{Cc}]+)+$/u);

const submodule = z.object({
  /** Path in the working tree of the repository. */
  path: z.string(),
  git_path: gitPath,
  head: oid,
  refs: z.array(ref),
  shallow: z.array(oid),
  /** Name of its bundle; null: nothing changed since the base. */
  member: z.string().nullable(),
});

export type SubmoduleRecord = z.infer<typeof submodule>;

const member = z.object({
  name: z.string().regex(/^(repository\.bundle|submodule-\d{1,4}\.bundle|lfs\/[0-9a-f]{64})$/),
  size: z.int().min(0),
  sha256: hex64,
});

export type MemberRecord = z.infer<typeof member>;

export const manifestSchema = z.object({
  format: z.literal('cairn-backup'),
  version: z.literal(1),
  repository_id: hex64,
  repository_label: z.string(),
  commit_sha: oid,
  made_at: z.iso.datetime(),
  /** `ref`: the branch of HEAD; null: detached. */
  head: z.object({ ref: refName.nullable(), commit: oid }),
  /** False: it holds everything. True: it continues the archive named at its upload. */
  is_increment: z.boolean(),
  /** SHA-256 of the uploaded archive before this one: the previous part, or the base of an increment. */
  base_sha256: hex64.nullable(),
  /** Digest of the refs that it continues; null: not known where it was made. */
  base_refs_sha256: hex64.nullable(),
  /** `is_complete` false: `set` and `removed` change the refs of the base. */
  refs: z.object({ is_complete: z.boolean(), set: z.array(ref), removed: z.array(refName) }),
  /** Digest of all refs after this archive. */
  refs_sha256: hex64,
  /** Commits at which the history of a shallow clone ends. */
  shallow: z.array(oid),
  part: z.int().min(1),
  parts: z.int().min(1),
  members: z.array(member),
  submodules: z.array(submodule),
  has_lfs: z.boolean(),
  left_out: z.array(z.string()),
});

export type Manifest = z.infer<typeof manifestSchema>;

export const MANIFEST = 'manifest.json';

/** SHA-256 of all refs, one line each, sorted by name. */
export function refsDigest(refs: readonly Ref[]): string {
  const lines = refs.map(([name, object, target]) => `${name} ${target ?? object}\n`).toSorted();
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** What turns the refs `before` into `after`. */
export function refsChange(before: readonly Ref[], after: readonly Ref[]): Omit<Manifest['refs'], 'is_complete'> {
  const known = new Map(before.map((one) => [one[0], one]));
  const names = new Set(after.map(([name]) => name));
  const isSame = (one: Ref, other: Ref | undefined) => one[1] === other?.[1] && one[2] === other[2];
  return {
    set: after.filter((one) => !isSame(one, known.get(one[0]))),
    removed: before.map(([name]) => name).filter((name) => !names.has(name)),
  };
}

/** The refs after a manifest. */
export function refsAfter(before: readonly Ref[], { refs }: Pick<Manifest, 'refs'>): readonly Ref[] {
  if (refs.is_complete) return refs.set;
  const changed = new Map(before.map((one) => [one[0], one]));
  for (const name of refs.removed) changed.delete(name);
  for (const one of refs.set) changed.set(one[0], one);
  return [...changed.values()];
}
