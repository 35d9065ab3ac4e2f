/** The page that lists vaults. */

import type { VNode } from 'preact';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import { countWithNoun } from '../../text/count.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { bytesText, Empty, Form, Given, Moment, SubmitButton } from '../ui.tsx';
import { vaultPath } from './paths.ts';

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
              Create one below, or run <code>cairn sync</code> in a folder. An agent’s first file creates one too.
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
          <Field form={form} name="name" label="Name of a new vault" problem={problem} />
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
          {countWithNoun(head.files, 'file')} · {bytesText(head.bytes)}
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
      Resolve {countWithNoun(count, 'conflict')}
    </a>
  );
}
