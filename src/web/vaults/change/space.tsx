/** The part of a vault's page to free space: the size of earlier versions, and the form that deletes them. */
import type { VNode } from 'preact';
import { invalidField } from '../../../common/fault.ts';
import { limits } from '../../../limits/service.ts';
import type { VaultState } from '../../../sync/vaults/vaults.ts';
import { Field, FormErrors, type Problem } from '../../fields.tsx';
import type { MemberVisit } from '../../pages.ts';
import { problemOf } from '../../problem.ts';
import { bytesText, Confirm, Form, SubmitButton } from '../../ui.tsx';
import { vaultPath } from '../paths.ts';
import { checkExactName, type VaultAct } from './act.ts';

const FORM = 'history';

export interface SpaceProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  /** Bytes used by the vault, excluding current files and pending conflicts. */
  readonly historyBytes: number;
  readonly problem: Problem | undefined;
}

export function SpaceUsed({ visit, vault, historyBytes, problem }: SpaceProps): VNode {
  return (
    <section class="panel" aria-labelledby="history">
      <h2 id="history">Earlier versions</h2>
      <p>
        The earlier versions of this vault use {bytesText(historyBytes)}. Versions are kept for {limits.historyDays}{' '}
        days, and the newest {limits.historyVersionsMin} of each file permanently.
      </p>
      <FormErrors form={FORM} problem={problem} shown={[]} />
      <Confirm label="Delete earlier versions…">
        <Form csrf={visit.csrf} action={`${vaultPath(vault.id)}/history`}>
          <Field
            form={FORM}
            name="days"
            label="Older than days (0: all of them)"
            value={String(limits.historyDays)}
            problem={problem}
          />
          <Field form={FORM} name="name" label="Name of the vault, to confirm" problem={problem} />
          <SubmitButton look="danger">Delete permanently</SubmitButton>
        </Form>
      </Confirm>
    </section>
  );
}

/** Deletes earlier versions. */
export const clearHistory: VaultAct = async ({ pages, sync }, { visit, form, vault: { id, record }, show }) => {
  const days = form.get('days') ?? '';
  const tried = await problemOf(FORM, { days }, () => {
    if (!/^\d{1,4}$/.test(days)) throw invalidField('days', 'Enter a number of days from 0 to 9999.');
    checkExactName(form, record);
    return sync.retention.clear(id, Number(days));
  });
  if (!tried.ok) return await show(tried.problem);
  const count = tried.value;
  return pages.go(visit, vaultPath(id), {
    text: `${count} earlier ${count === 1 ? 'version was' : 'versions were'} deleted permanently.`,
  });
};
