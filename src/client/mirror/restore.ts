/** Restores a backup: downloads the archives of its chain, verifies and applies them, checks the result with git. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { shownLine } from '../shown.ts';
import type { Unlock } from './age.ts';
import { backupExit } from './exit-codes.ts';
import { writeKnownName } from './git/last-push.ts';
import { RebuiltRepository } from './git/rebuild.ts';
import type { MirrorBlob, MirrorHub } from './hub.ts';
import { MANIFEST, type Manifest, manifestSchema } from './manifest.ts';
import { MemberFiles } from './member-files.ts';
import { type OpenedArchive, openArchive, RestoreBudget } from './open-archive.ts';
import { chainOf } from './plan.ts';
import { intoNewFolder, unpackTree } from './tar/unpack-tree.ts';

export interface BackupPull {
  readonly hub: MirrorHub;
  /** All archives of the account, newest first: a chain may cross repositories after a label changed. */
  readonly all: readonly MirrorBlob[];
  /** The archives to choose from, newest first: the newest complete one is restored. */
  readonly candidates: readonly MirrorBlob[];
  readonly unlock: Unlock;
  readonly budget: RestoreBudget;
  readonly tell: (sentence: string) => void;
  /** The folder stays, so it is flushed. */
  readonly isKept: boolean;
  readonly downloading: (part: number, parts: number) => (done: number, total: number) => void;
}

export interface PulledBackup {
  readonly blob: MirrorBlob;
  readonly kind: 'repository' | 'tree';
  readonly commit: string;
  /** Of the archives downloaded. */
  readonly bytes: number;
  readonly archives: number;
  readonly refs: number;
  /** Format errors in the history, as git itself has them (`git fsck --strict`). */
  readonly flaws: number;
  readonly leftOut: readonly string[];
  readonly madeAt: string | null;
  readonly hasLfs: boolean;
  readonly hasSubmodules: boolean;
}

/** What the beginning of an archive shows. */
type Beginning = { readonly manifest: Manifest } | { readonly manifest: undefined };

/** Restores the newest complete candidate into a new folder. Nothing is left when it fails. Throws ClientError. */
export async function pullBackup(options: BackupPull, folder: string): Promise<PulledBackup> {
  return await intoNewFolder(folder, options, async (files, work) => {
    const { blob, manifest, file } = await newestComplete(options, work);
    if (manifest === undefined) return await restoreTree(options, blob, file, files);
    return await restoreRepository(options, { blob, manifest, file }, files, work);
  });
}

interface Head {
  readonly blob: MirrorBlob;
  readonly manifest: Manifest | undefined;
  /** The downloaded archive. */
  readonly file: string;
}

async function newestComplete(options: BackupPull, work: string): Promise<Head> {
  const { candidates, tell, hub } = options;
  const file = join(work, 'head.age');
  for (const blob of candidates.slice(0, limits.backupCandidatesMax)) {
    if (blob.quarantined === true) {
      tell(`the archive of ${blob.uploaded_at} is damaged on the hub; trying the one before`);
      continue;
    }
    await hub.download(blob, file, options.downloading(1, 1));
    const budget = new RestoreBudget(limits.backupManifestBytesMax, limits.restoredFilesMax);
    const { manifest } = await openArchive(file, options.unlock, budget, readBeginning, { isBeginning: true });
    if (manifest === undefined || manifest.part === manifest.parts) return { blob, manifest, file };
    tell(
      `the upload of ${blob.uploaded_at} ended after part ${manifest.part} of ${manifest.parts}; trying the one before`,
    );
  }
  throw new ClientError('no complete backup can be read.', backupExit.damaged);
}

async function readBeginning({ entries, heads }: OpenedArchive): Promise<Beginning> {
  const first = await entries.next();
  // `git archive` writes a global header; an archive of a repository has none.
  if (first.done === true || heads.comment !== undefined || first.value.path !== MANIFEST)
    return { manifest: undefined };
  return { manifest: await readManifest(first.value) };
}

async function readManifest({ body, size }: { body: () => AsyncIterable<Buffer>; size: number }): Promise<Manifest> {
  if (size > limits.backupManifestBytesMax) throw badManifest('too large');
  const pieces: Buffer[] = [];
  for await (const piece of body()) pieces.push(piece);
  let given: unknown;
  try {
    given = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    throw badManifest('not JSON');
  }
  const parsed = manifestSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw badManifest(parsed.error.issues[0]?.path.join('.') ?? 'unknown');
}

function badManifest(what: string): ClientError {
  return new ClientError(
    `the manifest of this archive is invalid (${shownLine(what)}): it was made by a later version of cairn, or changed.`,
    backupExit.damaged,
  );
}

async function restoreTree(options: BackupPull, blob: MirrorBlob, file: string, folder: string): Promise<PulledBackup> {
  await openArchive(file, options.unlock, options.budget, async (opened) => {
    await unpackTree(opened, folder, options.budget);
    requireCommit(opened.heads.comment ?? blob.commit_sha, blob);
  });
  const nothing = { refs: 0, flaws: 0, leftOut: [], madeAt: null, hasLfs: false, hasSubmodules: false };
  return { blob, kind: 'tree', commit: blob.commit_sha, bytes: blob.byte_size, archives: 1, ...nothing };
}

function requireCommit(commit: string, blob: MirrorBlob): void {
  if (commit === blob.commit_sha) return;
  throw new ClientError(
    `the archive contains commit ${commit}, not ${blob.commit_sha}. Nothing was restored.`,
    backupExit.damaged,
  );
}

async function restoreRepository(
  options: BackupPull,
  head: Head & { readonly manifest: Manifest },
  folder: string,
  work: string,
): Promise<PulledBackup> {
  const { hub, unlock, budget } = options;
  requireCommit(head.manifest.commit_sha, head.blob);
  const chain = await chainFor(options, head, work);
  const rebuilt = await RebuiltRepository.create(folder);
  let members = newMembers(work);
  const download = async (index: number) => {
    const blob = chain[index] ?? head.blob;
    if (blob.sha256 === head.blob.sha256) return { blob, index, file: head.file };
    const file = join(work, `${index}.age`);
    await hub.download(blob, file, options.downloading(index + 1, chain.length));
    return { blob, index, file };
  };
  for await (const { blob, index, file } of aheadByOne(chain.length, download)) {
    const manifest = await openArchive(file, unlock, budget, (opened) => readPart(opened, members));
    rmSync(file, { force: true });
    requireCommit(manifest.commit_sha, blob);
    const before = index === 0 ? null : chain[index - 1]?.sha256;
    if (manifest.part !== members.parts || manifest.base_sha256 !== before) {
      throw new ClientError(
        'the archives of this backup are not in order; restore an earlier one with --commit.',
        backupExit.damaged,
      );
    }
    if (manifest.part < manifest.parts) continue;
    await rebuilt.apply(manifest, members.verified(manifest));
    members = newMembers(work);
  }
  const { refs, flaws } = await rebuilt.finish(head.manifest, budget);
  // The next push goes on under this name, whatever the new folder is called.
  writeKnownName(join(folder, '.git'), head.blob.repository_label ?? head.manifest.repository_label);
  return {
    blob: head.blob,
    kind: 'repository',
    commit: head.manifest.commit_sha,
    bytes: chain.reduce((sum, { byte_size }) => sum + byte_size, 0),
    archives: chain.length,
    refs,
    flaws,
    leftOut: head.manifest.left_out,
    madeAt: head.manifest.made_at,
    hasLfs: head.manifest.has_lfs,
    hasSubmodules: head.manifest.submodules.length > 0,
  };
}

/** Yields what `fetch` makes of 0 to `count` - 1; the next one is fetched meanwhile. Ends when none is being fetched. */
async function* aheadByOne<T>(count: number, fetch: (index: number) => Promise<T>): AsyncGenerator<T, void> {
  const begun = (index: number) => {
    const fetching = fetch(index);
    // Its failure is told when it is its turn.
    fetching.catch(() => undefined);
    return fetching;
  };
  let next = begun(0);
  try {
    for (let index = 0; index < count; index += 1) {
      const fetched = await next;
      if (index + 1 < count) next = begun(index + 1);
      yield fetched;
    }
  } finally {
    await next.catch(() => undefined);
  }
}

/**
 * The archives of a backup, oldest first. A hub of an earlier version does not know what an archive continues: then the
 * manifests tell.
 */
async function chainFor(
  options: BackupPull,
  head: Head & { readonly manifest: Manifest },
  work: string,
): Promise<readonly MirrorBlob[]> {
  const all = new Map(options.all.map((blob) => [blob.sha256, blob]));
  let blob = head.blob;
  let base = head.manifest.base_sha256;
  while (blob.base_sha256 === undefined && base !== null) {
    all.set(blob.sha256, { ...blob, base_sha256: base });
    const next = all.get(base);
    if (next === undefined) break;
    const file = join(work, 'chain.age');
    await options.hub.download(next, file, options.downloading(1, 1));
    const budget = new RestoreBudget(limits.backupManifestBytesMax, limits.restoredFilesMax);
    const { manifest } = await openArchive(file, options.unlock, budget, readBeginning, { isBeginning: true });
    rmSync(file, { force: true });
    blob = next;
    base = manifest?.base_sha256 ?? null;
  }
  const chain = chainOf([...all.values()], all.get(head.blob.sha256) ?? head.blob);
  if (chain !== undefined) return chain;
  throw new ClientError(
    `an archive on which the backup of ${head.blob.uploaded_at} builds is missing or damaged on the hub; restore an earlier one ` +
      'with --commit, and make a full backup with `cairn backups push --again`.',
    backupExit.damaged,
  );
}

function newMembers(work: string): MemberFiles {
  const folder = join(work, 'members');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return new MemberFiles(folder);
}

async function readPart({ entries }: OpenedArchive, members: MemberFiles): Promise<Manifest> {
  const first = await entries.next();
  if (first.done === true || first.value.path !== MANIFEST) throw badManifest('it is missing');
  const manifest = await readManifest(first.value);
  members.beginPart(manifest);
  for await (const entry of entries) await members.take(entry);
  return manifest;
}
