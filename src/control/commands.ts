/** Runs a control command against the service, whichever process it was typed in. */

import type { Accounts } from '../accounts/service.ts';
import type { AccessTokens } from '../accounts/tokens.ts';
import type { DeviceGrants } from '../oauth/device-grants.ts';
import type { ControlRequest, ControlResult } from './protocol.ts';

export interface ControlTools {
  readonly accounts: Accounts;
  readonly tokens: AccessTokens;
  readonly devices: DeviceGrants;
}

export async function runControl(
  { accounts, tokens, devices }: ControlTools,
  request: ControlRequest,
): Promise<ControlResult> {
  switch (request.command) {
    case 'account.create':
      return await accounts.create({ email: request.email, name: request.name });
    case 'token.create':
      return await tokens.mint(accounts.idOfEmail(request.email));
    case 'key.create':
      return await accounts.createKey(accounts.idOfEmail(request.email), request.name);
    case 'key.list':
      return { keys: accounts.listKeys(accounts.idOfEmail(request.email)) };
    case 'key.revoke':
      await accounts.revokeKey(accounts.idOfEmail(request.email), request.keyId);
      return { revoked: request.keyId };
    case 'device.answer': {
      const accountId = accounts.idOfEmail(request.email);
      const { isApproved, code } = request;
      return isApproved ? await devices.approve(code, accountId) : await devices.deny(code, accountId);
    }
  }
}
