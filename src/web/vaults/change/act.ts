/** What the forms on the page of a vault have in common. */
import { invalidField } from '../../../common/fault.ts';
import type { Reply } from '../../../http/reply/reply.ts';
import type { VaultState } from '../../../sync/vaults/vaults.ts';
import type { Problem } from '../../fields.tsx';
import type { MemberVisit } from '../../pages.ts';
import type { VaultOptions } from '../access.ts';

interface VaultFormVisit {
  readonly visit: MemberVisit;
  readonly form: URLSearchParams;
  readonly vault: VaultState;
  /** Shows the page of the vault again, with the errors of the form. */
  readonly show: (problem: Problem) => Promise<Reply>;
}

/** What a form does. */
export type VaultAct = (options: VaultOptions, visit: VaultFormVisit) => Promise<Reply>;

/** Throws Refusal `invalid_fields` unless a form that deletes permanently names the vault. */
export function checkExactName(form: URLSearchParams, { name }: Pick<VaultState['record'], 'name'>): void {
  if (form.get('name') !== name) throw invalidField('name', 'Enter the exact name of the vault.');
}
