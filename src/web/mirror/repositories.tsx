/** The list of repositories that have backups: how many, how old, and whether a restore was proven. */
import type { VNode } from 'preact';
import type { ArchiveGroup } from '../../mirror/blob-reads.ts';
import { UNKNOWN_GROUP } from '../../mirror/declared.ts';
import type { MemberVisit } from '../pages.ts';
import { bytesText, Given, Moment } from '../ui.tsx';

interface RepositoryListProps {
  readonly visit: MemberVisit;
  readonly path: string;
  readonly groups: readonly ArchiveGroup[];
  /** The repository whose archives are shown below; undefined: all. */
  readonly shown: string | undefined;
}

export function RepositoryList({ visit, path, groups, shown }: RepositoryListProps): VNode | null {
  if (groups.length === 0) return null;
  const newestFirst = [...groups].sort((one, other) => other.newest.record.sequence - one.newest.record.sequence);
  return (
    <section class="panel" aria-labelledby="repositories">
      <h2 id="repositories">Repositories</h2>
      <ul class="rows">
        {newestFirst.map((group) => (
          <Repository key={group.repositoryId} visit={visit} path={path} group={group} shown={shown} />
        ))}
      </ul>
    </section>
  );
}

interface RepositoryProps extends Omit<RepositoryListProps, 'groups'> {
  readonly group: ArchiveGroup;
}

function Repository({ visit, path, group, shown }: RepositoryProps): VNode {
  const { repositoryId, record, newest } = group;
  const id = repositoryId ?? UNKNOWN_GROUP;
  const name = record.label ?? (repositoryId === null ? 'Unknown repository' : repositoryId.slice(0, 12));
  const { uploaded_at: at, uploaded_by: by } = newest.record;
  return (
    <li class="row">
      <div class="row-main">
        <Given>{name}</Given> <Proof group={group} />
        <p class="meta">
          {record.archives === 1 ? '1 archive' : `${record.archives} archives`}, {bytesText(record.bytes)} · last backup{' '}
          <Moment at={at} zone={visit.zone} />
          {by === null ? null : (
            <>
              {' '}
              by <Given>{by}</Given>
            </>
          )}
          {' · '}
          {group.proof?.last_proven ? (
            <>
              last proven restore <Moment at={group.proof.last_proven.at} zone={visit.zone} />
            </>
          ) : (
            'no restore proven yet: run cairn backups drill'
          )}
        </p>
      </div>
      {shown === id ? (
        <a class="button small" href={path}>
          Show all
        </a>
      ) : (
        <a class="button small" href={`${path}?repository=${id}`}>
          Archives<span class="sr-only"> of {name}</span>
        </a>
      )}
    </li>
  );
}

function Proof({ group: { proof } }: { readonly group: ArchiveGroup }): VNode | null {
  if (proof?.last_drill.outcome === 'failed') return <span class="badge warn">last drill failed</span>;
  return proof === undefined ? null : <span class="badge good">proven</span>;
}
