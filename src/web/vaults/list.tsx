/** The pages that list vaults and the pending conflicts of one vault. */
import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { Conflict } from '../../sync/log/reader.ts';
import type { ConflictKind } from '../../sync/log/records.ts';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { bytesText, Empty, Form, Given, Moment, SubmitButton } from '../ui.tsx';
import { Crumbs } from './crumbs.tsx';
import { conflictPath, vaultPath } from './paths.ts';

interface VaultListProps {
  readonly visit: MemberVisit;
  readonly vaults: readonly VaultState[];
  readonly problem: Problem | undefined;
}

export function VaultList({ visit, vaults, problem }: VaultListProps): VNode {
  const form = 'vault';
  return (
    <>
      <div class="intro">
        <h1>Vaults</h1>
        <p class="lead">
          Folders synced between your devices and agents, with version history. Nothing is overwritten silently.
        </p>
      </div>
      <section class="panel" aria-labelledby="vaults">
        <h2 id="vaults">Your vaults</h2>
        {vaults.length === 0 ? (
          <Empty title="No vault yet">
            <p>
              Make one below, run <code>cairn sync</code> in a folder, or let an agent do it with the tool{' '}
              <code>sync_push</code> makes the first vault with the first file.
            </p>
          </Empty>
        ) : (
          <ul class="rows">
            {vaults.map((vault) => (
              <VaultItem key={vault.id} vault={vault} visit={visit} />
            ))}
          </ul>
        )}
        <Form csrf={visit.csrf} action="/vaults" class="inline-form">
          <FormErrors form={form} problem={problem} shown={['name']} />
          <Field
            form={form}
            name="name"
            label="Name of a new vault"
            maxlength={limits.nameCharsMax}
            problem={problem}
          />
          <SubmitButton look="primary">Create vault</SubmitButton>
        </Form>
      </section>
    </>
  );
}

function VaultItem({ vault, visit }: { readonly vault: VaultState; readonly visit: MemberVisit }): VNode {
  const { id, record, head } = vault;
  return (
    <li class="row">
      <div class="row-main">
        <a class="row-name" href={vaultPath(id)}>
          <Given>{record.name}</Given>
        </a>{' '}
        {record.is_primary ? <span class="badge">default</span> : null}
        <p class="meta">
          {head.files} {head.files === 1 ? 'file' : 'files'} · {bytesText(head.bytes)}
          {head.seq === 0 ? null : (
            <>
              {' '}
              · changed <Moment at={head.stored_ms} zone={visit.zone} />
            </>
          )}
        </p>
      </div>
      <ConflictsLink vaultId={id} count={head.pending} />
    </li>
  );
}

export function ConflictsLink({ vaultId, count }: { readonly vaultId: string; readonly count: number }): VNode | null {
  if (count === 0) return null;
  return (
    <a class="button small" href={`${vaultPath(vaultId)}/conflicts`}>
      Resolve {count} {count === 1 ? 'conflict' : 'conflicts'}
    </a>
  );
}

const KINDS: Readonly<Record<ConflictKind, string>> = {
  'edit/edit': 'both edited',
  'create/create': 'both created',
  'edit/delete': 'deleted on the hub',
  'delete/edit': 'deleted on the device',
};

interface ConflictListProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly conflicts: readonly Conflict[];
  readonly cursor: string | undefined;
}

export function ConflictList({ visit, vault, conflicts, cursor }: ConflictListProps): VNode {
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} />
        <h1>Conflicts</h1>
        <p class="lead">Changes that conflict with newer versions. Nothing was lost. Choose which to keep.</p>
      </div>
      <section class="panel" aria-label="Pending conflicts">
        {conflicts.length === 0 ? (
          <Empty title="No conflicts">
            <p>
              <a href={vaultPath(vault.id)}>Back to the files</a>
            </p>
          </Empty>
        ) : (
          <ul class="rows">
            {conflicts.map(({ id, record }) => (
              <li key={id} class="row">
                <div class="row-main">
                  <a href={conflictPath(vault.id, id)}>
                    <Given>{record.path}</Given>
                  </a>
                  <p class="meta">
                    from <Given>{record.device_id}</Given> · <Moment at={record.detected_at} zone={visit.zone} />
                  </p>
                </div>
                <span class="badge warn">{KINDS[record.kind]}</span>
              </li>
            ))}
          </ul>
        )}
        {cursor === undefined ? null : (
          <nav aria-label="Pages of conflicts">
            <a href={`${vaultPath(vault.id)}/conflicts?cursor=${encodeURIComponent(cursor)}`}>More conflicts</a>
          </nav>
        )}
      </section>
    </>
  );
}
