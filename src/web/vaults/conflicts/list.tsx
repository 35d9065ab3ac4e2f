/** The page of the pending conflicts of a vault, in groups that can be settled with one press. */
import type { VNode } from 'preact';
import { limits } from '../../../limits/service.ts';
import type { PendingConflict } from '../../../sync/conflicts/conflicts.ts';
import type { VaultState } from '../../../sync/vaults/vaults.ts';
import type { MemberVisit } from '../../pages.ts';
import { CsrfField, Empty, Given, Moment, SubmitButton, Who } from '../../ui.tsx';
import { isYou } from '../../visit.ts';
import { Crumbs } from '../crumbs.tsx';
import { conflictPath, conflictsPath, vaultPath } from '../paths.ts';
import { CONFLICT_GROUPINGS, type ConflictGroup, type ConflictGrouping, groupConflicts, KINDS } from './groups.ts';
import { conflictAct, SEEN_FIELD, shownBeside } from './many.ts';

interface ConflictListProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly conflicts: readonly PendingConflict[];
  readonly by: ConflictGrouping;
  readonly cursor: string | undefined;
}

export function ConflictList({ visit, vault, conflicts, by, cursor }: ConflictListProps): VNode {
  const groups = groupConflicts(conflicts, by);
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} />
        <h1>Conflicts</h1>
        <p class="lead">
          Changes that conflict with newer versions. Nothing was lost. Open one to compare, or settle many at once: the
          other version stays in the history of the file.
        </p>
      </div>
      {conflicts.length === 0 ? (
        <section class="panel" aria-label="Pending conflicts">
          <Empty title="No conflicts">
            <p>
              <a href={vaultPath(vault.id)}>Back to the files</a>
            </p>
          </Empty>
        </section>
      ) : (
        <form class="panel" method="post" action={conflictsPath(vault.id)} aria-label="Pending conflicts">
          <CsrfField csrf={visit.csrf} />
          <input type="hidden" name="by" value={by} />
          <nav class="chips" aria-label="Group by">
            {CONFLICT_GROUPINGS.map(({ value, label }) => (
              <a
                key={value}
                href={conflictsPath(vault.id, { by: value })}
                aria-current={value === by ? 'page' : undefined}
              >
                {label}
              </a>
            ))}
          </nav>
          {groups.length === 1 ? null : (
            <Acts title={`All ${conflicts.length}`} act={(keep) => conflictAct(keep)} devices="the devices" />
          )}
          {groups.map((group) => (
            <Group key={group.key} group={group} visit={visit} vault={vault} by={by} />
          ))}
          {cursor === undefined ? null : (
            <nav aria-label="Pages of conflicts">
              <a href={conflictsPath(vault.id, { by, cursor })}>More conflicts</a>
            </nav>
          )}
        </form>
      )}
    </>
  );
}

interface GroupProps {
  readonly group: ConflictGroup<PendingConflict>;
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly by: ConflictGrouping;
}

function Group({ group: { key, conflicts }, visit, vault, by }: GroupProps): VNode {
  const name = nameOf(key, by, visit);
  const first = conflicts.slice(0, limits.conflictFirstRows);
  const rest = conflicts.slice(limits.conflictFirstRows);
  const rows = (some: readonly PendingConflict[]) => (
    <ul class="rows">
      {some.map((conflict) => (
        <Row key={conflict.id} conflict={conflict} visit={visit} vault={vault} />
      ))}
    </ul>
  );
  return (
    <section class="stack" aria-label={name}>
      <Acts
        title={name}
        count={conflicts.length}
        act={(keep) => conflictAct(keep, key)}
        devices={by !== 'device' ? 'the devices' : isYou(visit, key) ? 'this browser' : key}
      />
      {rows(first)}
      {rest.length === 0 ? null : (
        <details class="more">
          <summary>Show {rest.length} more</summary>
          {rows(rest)}
        </details>
      )}
    </section>
  );
}

function nameOf(key: string, by: ConflictGrouping, visit: MemberVisit): string {
  if (by === 'folder') return key === '' ? 'Not in a folder' : key;
  if (by === 'kind') return KINDS[key as keyof typeof KINDS];
  return isYou(visit, key) ? 'From you' : `From ${key}`;
}

interface ActsProps {
  readonly title: string;
  readonly count?: number;
  readonly act: (keep: 'newest' | 'theirs' | 'yours' | 'merge') => string;
  /** Whose changes are kept by the third button. */
  readonly devices: string;
}

function Acts({ title, count, act, devices }: ActsProps): VNode {
  const of = <span class="sr-only">: {title}</span>;
  return (
    <div class="panel-head">
      <h2>
        <Given>{title}</Given> {count === undefined ? null : <span class="badge">{count}</span>}
      </h2>
      <div class="actions">
        <SubmitButton look="small" name="act" value={act('merge')}>
          Merge what does not overlap{of}
        </SubmitButton>
        <SubmitButton look="small" name="act" value={act('newest')}>
          Keep newest{of}
        </SubmitButton>
        <SubmitButton look="small" name="act" value={act('theirs')}>
          Keep all from the hub{of}
        </SubmitButton>
        <SubmitButton look="small" name="act" value={act('yours')}>
          Keep all from {devices}
          {of}
        </SubmitButton>
      </div>
    </div>
  );
}

interface RowProps {
  readonly conflict: PendingConflict;
  readonly visit: MemberVisit;
  readonly vault: VaultState;
}

function Row({ conflict, visit, vault }: RowProps): VNode {
  const { id, record } = conflict;
  return (
    <li class="row">
      <input type="hidden" name={SEEN_FIELD} value={shownBeside(conflict)} />
      <div class="row-main">
        <a href={conflictPath(vault.id, id)}>
          <Given>{record.path}</Given>
        </a>
        <p class="meta">
          from <Who name={record.device_id} visit={visit} /> · <Moment at={record.detected_at} zone={visit.zone} />
        </p>
      </div>
      <span class="badge warn">{KINDS[record.kind]}</span>
    </li>
  );
}
