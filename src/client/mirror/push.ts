/** Pushes a repository: decides between nothing, an increment and a full backup, packs it and uploads it. */
import { limits } from '../../limits/service.ts';
import type { TransferProgress } from '../http.ts';
import { shownLine } from '../shown.ts';
import type { Tell } from '../staging.ts';
import type { Lock } from './age.ts';
import { nameGoingOn } from './choose.ts';
import { withWorkFolder } from './full-disk.ts';
import { type LastPush, readLastPush, writeLastPush } from './git/last-push.ts';
import type { Repository } from './git/repository.ts';
import { git } from './git/run-git.ts';
import type { ArchiveFacts, MirrorBlob, MirrorHub } from './hub.ts';
import type { Ref } from './manifest.ts';
import { NOTE_BYTES_MAX, type Note, readNote } from './note.ts';
import {
  type Choices,
  type PackBase,
  type Packed,
  packRepository,
  type RepositorySnapshot,
  readSnapshot,
  sealParts,
  sharedChoices,
} from './pack.ts';
import { type BackupPlan, chainOf, planBackup } from './plan.ts';

export interface RepositoryPush {
  readonly hub: MirrorHub;
  readonly repository: Repository;
  readonly choices: Choices;
  readonly lock: Lock;
  /** Upload a full backup in any case. */
  readonly isForced: boolean;
  readonly uploadedBy: string | undefined;
  readonly leftOut: readonly string[];
  readonly nowMs: number;
  readonly tell: Tell;
  readonly progress: (label: string) => TransferProgress;
}

export type BackupResult =
  | { readonly kind: 'nothing'; readonly commit: string; readonly label: string }
  | {
      readonly kind: 'full' | 'increment';
      readonly label: string;
      readonly plan: BackupPlan;
      readonly blob: MirrorBlob;
      readonly parts: number;
      readonly bytes: number;
      readonly refs: number;
      readonly leftOut: readonly string[];
    };

/** Backs up a repository. Resolves when every part is on the hub's disk. Throws ClientError. */
export async function pushRepository(options: RepositoryPush): Promise<BackupResult> {
  // Made also when there is nothing to do: what a killed push left is not encrypted, and is removed by the next one.
  return await withWorkFolder('cairn-push', options.tell, (work) => push(options, work));
}

async function push(given: RepositoryPush, work: string): Promise<BackupResult> {
  const { hub, choices } = given;
  const [snapshot, all] = await Promise.all([readSnapshot(given.repository, choices), hub.list(given.repository.id)]);
  const repository = goingOn(given.repository, all, given.tell);
  const { label } = repository;
  const options = { ...given, repository };
  const { plan, base } = await decide(options, snapshot, all);
  if (plan.kind === 'nothing') return { kind: 'nothing', commit: repository.commit, label };
  const packed = await packRepository({ ...options, snapshot, base, work });
  const continued = plan.kind === 'increment' ? plan.base.sha256 : undefined;
  const uploaded = await uploadParts(options, packed, snapshot, continued);
  const { blob } = uploaded;
  const line = repository.roots.length === 0 ? undefined : { commit: repository.commit, roots: [...repository.roots] };
  writeLastPush(repository.gitFolder, hub.server, lastPushOf(blob, snapshot, packed), { name: label, line });
  const { length: refs } = snapshot.refs;
  return { kind: plan.kind, label, plan, ...uploaded, refs, leftOut: packed.manifest.left_out };
}

/** The repository with the name under which its backups go on. Tells a person when it is a new one beside others. */
export function goingOn(repository: Repository, blobs: readonly MirrorBlob[], tell: Tell): Repository {
  const { label, others } = nameGoingOn(repository, blobs);
  if (others.length > 0) {
    const names = others.map((name) => shownLine(name)).join(', ');
    tell(
      `the hub has backups of this repository as ${names}; those as ${shownLine(label)} begin a second series beside them. To go on with the former ones, pass --name.`,
    );
  }
  return { ...repository, label };
}

interface Decision {
  readonly plan: BackupPlan;
  /** Undefined for a full backup. */
  readonly base: PackBase | undefined;
}

async function decide(
  { hub, repository, choices, lock, isForced }: RepositoryPush,
  snapshot: RepositorySnapshot,
  all: readonly MirrorBlob[],
): Promise<Decision> {
  const blobs = all.filter((one) => one.archive_kind === 'repository' && one.repository_label === repository.label);
  const last = readLastPush(repository.gitFolder, hub.server);
  const { newest, note } = await newestComplete(hub, blobs);
  const chain = newest === undefined ? [] : (chainOf(blobs, newest) ?? []);
  const isLast = last !== undefined && last.sha256 === newest?.sha256;
  const tips = await existing(repository, isLast ? last.tips : commitsOf(chain));
  const plan = planBackup({
    blobs,
    newest,
    hasSameKey: 'passphrase' in lock ? undefined : note?.isFor(lock.recipients),
    hasSameChoices: note?.hasChoices(sharedChoices(choices, true)) ?? true,
    isSame: note?.isOf(snapshot.state) ?? (isLast && last.state === snapshot.state),
    // A deepened clone has older commits that `^tip` would leave out.
    isKnown:
      tips.length > 0 && (repository.shallow.length === 0 || (isLast && isEqual(last.shallow, repository.shallow))),
    isForced,
  });
  if (plan.kind !== 'increment') return { plan, base: undefined };
  return {
    plan,
    base: { tips, refs: isLast ? (last.refs as Ref[]) : undefined, submodules: isLast ? last.submodules : {} },
  };
}

const isEqual = (one: readonly string[], other: readonly string[]) => one.toSorted().join() === other.toSorted().join();

const commitsOf = (blobs: readonly MirrorBlob[]) => [...new Set(blobs.map(({ commit_sha }) => commit_sha))];

/** The newest archive whose parts are all there. A passphrase leaves no note; such an archive counts as complete. */
async function newestComplete(
  hub: MirrorHub,
  blobs: readonly MirrorBlob[],
): Promise<{ readonly newest: MirrorBlob | undefined; readonly note: Note | undefined }> {
  for (const blob of blobs.slice(0, limits.backupCandidatesMax)) {
    if (blob.quarantined === true) continue;
    const beginning = await hub.beginning(blob, NOTE_BYTES_MAX);
    if (beginning === undefined) continue;
    const note = readNote(beginning);
    if (note === undefined || note.isLastPart) return { newest: blob, note };
  }
  return { newest: undefined, note: undefined };
}

/** The objects that this repository has: others were removed by git's garbage collection, or are not fetched. */
async function existing({ folder }: Repository, objects: readonly string[]): Promise<readonly string[]> {
  if (objects.length === 0) return [];
  const { stdout } = await git(folder, ['cat-file', '--batch-check'], {
    input: `${objects.join('\n')}\n`,
    refusal: `git cat-file failed in ${folder}.`,
  });
  const missing = new Set(stdout.toString('latin1').match(/^[0-9a-f]{40}(?= missing$)/gm));
  return objects.filter((object) => !missing.has(object));
}

async function uploadParts(
  { hub, repository, choices, lock, uploadedBy, progress }: RepositoryPush,
  packed: Packed,
  snapshot: RepositorySnapshot,
  base: string | undefined,
): Promise<{ readonly blob: MirrorBlob; readonly parts: number; readonly bytes: number }> {
  let blob: MirrorBlob | undefined;
  let bytes = 0;
  let count = 0;
  for await (const { part, parts, bytes: sealed, base: before } of sealParts(
    packed,
    { state: snapshot.state, choices: sharedChoices(choices, packed.hasAllLfs) },
    lock,
    base,
  )) {
    const facts: ArchiveFacts = {
      commit: repository.commit,
      uploadedBy,
      repositoryId: repository.id,
      repositoryLabel: repository.label,
      base: before,
      kind: 'repository',
    };
    blob = await hub.upload(sealed, facts, progress(parts === 1 ? 'uploading' : `uploading part ${part} of ${parts}`));
    bytes += sealed.length;
    count = parts;
  }
  if (blob === undefined) throw new Error('a backup has at least one part');
  return { blob, parts: count, bytes };
}

function lastPushOf(blob: MirrorBlob, snapshot: RepositorySnapshot, { manifest }: Packed): LastPush {
  const { refs, head, state } = snapshot;
  const tips = [...new Set([...refs.map(([, object]) => object), head.commit])];
  return {
    sha256: blob.sha256,
    state,
    refs: [...refs],
    tips,
    shallow: manifest.shallow,
    submodules: Object.fromEntries(
      manifest.submodules.map((one) => [
        one.git_path,
        [...new Set([...one.refs.map(([, object]) => object), one.head])],
      ]),
    ),
  };
}
