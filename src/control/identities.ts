/** Runs the operator's commands on linked identities. */
import type { Accounts } from '../accounts/service.ts';
import { OPERATOR } from '../audit/note.ts';
import type { Identities } from '../oauth/provider/identities.ts';
import type { ControlRequest, ControlResult } from './protocol.ts';

type IdentityCommand = 'identity.link' | 'identity.list' | 'identity.unlink';

type IdentityRequest = Extract<ControlRequest, { readonly command: IdentityCommand }>;

export interface IdentityControlTools {
  readonly accounts: Accounts;
  readonly identities: Identities;
}

export async function runIdentityControl(
  { accounts, identities }: IdentityControlTools,
  request: IdentityRequest,
): Promise<ControlResult> {
  const accountId = accounts.idOfEmail(request.email);
  switch (request.command) {
    case 'identity.link':
      return await identities.linkSubject(accountId, request.subject, OPERATOR);
    case 'identity.list':
      return { identities: identities.list(accountId) };
    case 'identity.unlink':
      await identities.unlink(accountId, request.identityId, OPERATOR);
      return { unlinked: request.identityId };
  }
}
