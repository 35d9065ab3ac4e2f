/** Opens what devices, apps and subjects of the identity provider sign in through. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../common/log.ts';
import type { Config } from '../config.ts';
import { OAuthClients } from '../oauth/clients/clients.ts';
import { OperatorClients } from '../oauth/clients/operator-clients.ts';
import { AuthorizationCodes } from '../oauth/code/codes.ts';
import { DeviceGrants } from '../oauth/device-grants.ts';
import { Identities } from '../oauth/provider/identities.ts';
import type { IdentityProvider } from '../oauth/provider/identity-provider.ts';
import { SignIns, type SignInsOptions } from '../oauth/sign-ins.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { Members } from './members.ts';

export interface DeviceAccess {
  /** Pending device sign-ins, and signed-in devices. */
  readonly devices: DeviceGrants;
  readonly signIns: SignIns;
  /** OAuth clients, and their authorization codes. */
  readonly clients: OAuthClients;
  readonly operatorClients: OperatorClients;
  readonly codes: AuthorizationCodes;
  /** Links subjects of the identity provider to accounts. */
  readonly identities: Identities;
}

interface DeviceAccessBase {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly epoch: string;
  readonly now: () => number;
}

export async function openDeviceAccess(
  base: DeviceAccessBase,
  members: Members,
  config: Config,
): Promise<DeviceAccess> {
  const signIns = openSignIns(base, members);
  const provider = await openProvider(config, base.log);
  return {
    signIns,
    devices: new DeviceGrants({ ...base, signIns }),
    codes: new AuthorizationCodes({ ...base, signIns }),
    clients: new OAuthClients({ ...base, documents: config.oauthClientDocuments }),
    operatorClients: new OperatorClients({ ...base, signIns }),
    identities: new Identities({ ...base, provider }),
  };
}

/** Opens signed-in devices. Their tokens and keys are created and revoked in the decisions of the sign-ins. */
function openSignIns(base: Omit<SignInsOptions, 'account'>, { accounts, tokens, standings }: Members): SignIns {
  return new SignIns({
    ...base,
    account: {
      isOpen: (accountId) => standings.isOpen(accountId),
      mintToken: (batch, accountId, signInId, { readOnly }) => tokens.add(batch, accountId, signInId, readOnly),
      endTokens: (batch, accountId, signInId) => tokens.endSignIn(batch, accountId, signInId),
      addKey: (batch, accountId, name, source) => accounts.addKey(batch, accountId, name, source),
      endKey: (batch, accountId, keyId, source) => void accounts.endKey(batch, accountId, keyId, source),
      checkKeyRoom: (reader, accountId) => accounts.checkKeyRoom(reader, accountId),
    },
  });
}

/** The library for the provider's tokens is loaded only when a provider is configured. */
async function openProvider({ identityProvider: provider }: Config, log: Log): Promise<IdentityProvider | undefined> {
  if (provider === undefined) return undefined;
  const [{ IdentityProvider }, { ProviderKeys }] = await Promise.all([
    import('../oauth/provider/identity-provider.ts'),
    import('../oauth/provider/keys.ts'),
  ]);
  const keys = new ProviderKeys({ issuer: provider.issuer, log, now: Date.now });
  return new IdentityProvider({ ...provider, keys, log, now: Date.now });
}
