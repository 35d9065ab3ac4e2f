/** Chooses which archives a command means: those of the folder's repository, or of a named one. Pure. */
import { groupedBy } from '../../text/grouped-by.ts';
import { ClientError } from '../client-error.ts';
import { shownLine } from '../shown.ts';
import type { MirrorBlob } from './hub.ts';

export interface RepositoryGroup {
  /** Null: uploaded without a repository, by an earlier version or by hand. */
  readonly id: string | null;
  /** Newest label; null: unknown. */
  readonly label: string | null;
  /** Newest first. */
  readonly blobs: readonly MirrorBlob[];
}

const UNKNOWN = 'unknown';
const ID_CHARS_SHOWN = 12;

/** Groups archives by repository; the repository with the newest archive comes first. `blobs`: newest first. */
export function groupByRepository(blobs: readonly MirrorBlob[]): readonly RepositoryGroup[] {
  const groups = groupedBy(blobs, ({ repository_id: id }) => id ?? null);
  return [...groups].map(([id, own]) => ({ id, label: own[0]?.repository_label ?? null, blobs: own }));
}

/**
 * The newest archives that a drill or a rewrap has to open, of all repositories or of a named one: forks share an id, and each has
 * its own. Those of one repository come oldest first, so that the newest stays the newest when all are uploaded again.
 */
export function seriesOf(all: readonly MirrorBlob[], wanted: string | undefined): readonly RepositoryGroup[] {
  const groups = groupByRepository(all);
  return (wanted === undefined ? groups : [namedGroup(groups, wanted)]).flatMap((group) => {
    if (group.id === null) return [group];
    const names = groupedBy(group.blobs, ({ repository_label: label }) => label ?? null);
    return [...names].map(([label, blobs]) => ({ id: group.id, label, blobs })).toReversed();
  });
}

/**
 * The name under which the backups of a repository go on. That of a folder says little: where its backups have one other name, it is
 * that one. `blobs`: of this repository.
 */
export function nameGoingOn(
  { label, isFolderName }: { readonly label: string; readonly isFolderName: boolean },
  blobs: readonly MirrorBlob[],
): { readonly label: string; readonly others: readonly string[] } {
  const names = [...new Set(blobs.flatMap(({ repository_label: name }) => name ?? []))];
  const [only] = names;
  if (isFolderName && only !== undefined && names.length === 1) return { label: only, others: [] };
  return { label, others: names.includes(label) ? [] : names };
}

/** The newest archive of the same repository under another name, if it is newer than the given one. `all`: newest first. */
export function newerElsewhere(all: readonly MirrorBlob[], chosen: MirrorBlob): MirrorBlob | undefined {
  if (chosen.repository_id == null) return undefined;
  const newest = all.find(({ repository_id: id }) => id === chosen.repository_id);
  return newest?.repository_label === chosen.repository_label ? undefined : newest;
}

/** Name of a repository for people. */
export function groupName({ id, label }: Pick<RepositoryGroup, 'id' | 'label'>): string {
  return id === null ? UNKNOWN : `${shownLine(label ?? '(no label)')} (${id.slice(0, ID_CHARS_SHOWN)})`;
}

/**
 * The group that a person named: by its label, the beginning of its id (4 characters or more), or `unknown`. Throws
 * ClientError that lists the repositories when none or several match.
 */
export function namedGroup(groups: readonly RepositoryGroup[], wanted: string): RepositoryGroup {
  const isId = /^[0-9a-f]{4,64}$/.test(wanted);
  const named = groups.filter(({ blobs }) => blobs.some((blob) => blob.repository_label === wanted));
  const found =
    wanted === UNKNOWN
      ? groups.filter(({ id }) => id === null)
      : named.length > 0
        ? named
        : groups.filter(({ id }) => isId && id?.startsWith(wanted) === true);
  const [only, ...others] = found;
  if (only === undefined) {
    throw new ClientError(`there is no backup of a repository ${shownLine(wanted)}. ${listed(groups)}`);
  }
  if (others.length === 0) return narrowed(only, wanted);
  throw new ClientError(`${shownLine(wanted)} is the name of several repositories; pass the id. ${listed(found)}`);
}

export interface Here {
  readonly id: string;
  readonly label: string;
  /** True when this repository has the commit: so archives without a repository are recognized. */
  hasCommit(commit: string): boolean;
}

/**
 * The archives that belong to the current folder; outside a repository, those of the only repository. Throws ClientError
 * with the next step when none or several match.
 */
export function groupHere(groups: readonly RepositoryGroup[], here: Here | undefined): RepositoryGroup {
  const [first, ...others] = groups;
  if (first === undefined) throw new ClientError('there is no backup yet. Make one with `cairn backups push`.');
  if (here === undefined) {
    if (others.length === 0) return first;
    throw new ClientError(
      `this folder is not a git repository, and there are backups of several; choose one with --repository. ${listed(groups)}`,
    );
  }
  const own = groups.find(({ id }) => id === here.id);
  if (own !== undefined) return narrowed(own, here.label);
  const old = groups.find(({ id }) => id === null)?.blobs.filter(({ commit_sha }) => here.hasCommit(commit_sha)) ?? [];
  if (old.length > 0) return { id: null, label: null, blobs: old };
  throw new ClientError(
    `there is no backup of this repository (${groupName(here)}). To restore another one, pass --repository. ${listed(groups)}`,
  );
}

/** Forks share their root commit, and so their id: where archives with this label exist, only they are meant. */
function narrowed(group: RepositoryGroup, label: string): RepositoryGroup {
  const own = group.blobs.filter((blob) => blob.repository_label === label);
  return own.length === 0 ? group : { id: group.id, label, blobs: own };
}

/** Characters that the beginning of a commit's id needs at least. */
const COMMIT_CHARS_MIN = 4;

/** The commits of backups with an id that is `given` or begins with it, each once. */
export function commitsOf(blobs: readonly MirrorBlob[], given: string): readonly string[] {
  const wanted = given.toLowerCase();
  if (!/^[0-9a-f]+$/.test(wanted) || wanted.length < COMMIT_CHARS_MIN) return [];
  return [...new Set(blobs.map(({ commit_sha }) => commit_sha).filter((sha) => sha.startsWith(wanted)))];
}

const LISTED_MAX = 10;

function listed(groups: readonly RepositoryGroup[]): string {
  const names = groups.slice(0, LISTED_MAX).map(groupName);
  const more = groups.length > LISTED_MAX ? ` and ${groups.length - LISTED_MAX} more; see \`cairn backups list\`` : '';
  return `Backups exist of: ${names.join(', ')}${more}.`;
}
