/** The part of a vault's page that is about the vault itself: its name, and its permanent end. */
import type { VNode } from 'preact';
import { z } from 'zod';
import { readFields } from '../../../fields/read.ts';
import { vaultName } from '../../../sync/vaults/name.ts';
import type { VaultState } from '../../../sync/vaults/vaults.ts';
import { countWithNoun } from '../../../text/count.ts';
import { Field, FormErrors, type Problem } from '../../fields.tsx';
import type { MemberVisit } from '../../pages.ts';
import { problemOf } from '../../problem.ts';
import { Confirm, Form, SubmitButton } from '../../ui.tsx';
import { vaultPath } from '../paths.ts';
import { checkExactName, type VaultAct } from './act.ts';

const RENAME = 'vault-name';
const DELETE = 'vault-end';

interface VaultItselfProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly problem: Problem | undefined;
}

export function VaultItself({ visit, vault: { id, record, head }, problem }: VaultItselfProps): VNode {
  const path = vaultPath(id);
  return (
    <section class="panel" aria-labelledby="vault-itself">
      <h2 id="vault-itself">This vault</h2>
      <p>
        Folders that sync it continue after it was renamed. If you delete it, they keep their files and stop syncing.
      </p>
      <FormErrors form={RENAME} problem={problem} shown={[]} />
      <FormErrors form={DELETE} problem={problem} shown={[]} />
      <Confirm label="Rename vault…" danger={false}>
        <Form csrf={visit.csrf} action={`${path}/name`}>
          <Field form={RENAME} name="name" label="New name of the vault" value={record.name} problem={problem} />
          <SubmitButton look="primary">Rename</SubmitButton>
        </Form>
      </Confirm>{' '}
      <Confirm label="Delete vault…">
        <p>
          This permanently deletes {countWithNoun(head.files, 'file')} with all versions and conflicts. It cannot be
          undone. To keep the files, download the folder first.
        </p>
        <Form csrf={visit.csrf} action={`${path}/end`}>
          <Field form={DELETE} name="name" label="Name of the vault to delete" problem={problem} />
          <SubmitButton look="danger">Delete vault permanently</SubmitButton>
        </Form>
      </Confirm>
    </section>
  );
}

const named = z.strictObject({ name: vaultName });

/** The name that was entered for a vault. Throws Refusal `invalid_fields`. */
export function vaultNameIn(form: URLSearchParams): string {
  return readFields(named, { name: form.get('name') ?? '' }).name;
}

export const renameVault: VaultAct = async ({ pages, sync }, { visit, form, vault: { id }, show }) => {
  const name = form.get('name') ?? '';
  const tried = await problemOf(RENAME, { name }, () => sync.vaults.rename(visit.accountId, id, vaultNameIn(form)));
  if (!tried.ok) return await show(tried.problem);
  const { formerName, record } = tried.value;
  const text = formerName === record.name ? 'Nothing changed.' : 'Vault renamed.';
  return pages.go(visit, vaultPath(id), { text });
};

export const deleteVault: VaultAct = async ({ pages, sync }, { visit, form, vault: { id, record }, show }) => {
  const tried = await problemOf(DELETE, {}, async () => {
    checkExactName(form, record);
    return await sync.vaults.delete(visit.accountId, id, record.name);
  });
  if (!tried.ok) return await show(tried.problem);
  sync.removal.begin();
  return pages.go(visit, '/vaults', { text: `The vault “${record.name}” was deleted permanently.` });
};
