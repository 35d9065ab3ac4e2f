/** Defines the credential schemes, and the revisions that validate caches. */
import type { Accounts } from '../accounts/service.ts';
import type { AccessTokens } from '../accounts/tokens.ts';
import { Recent } from '../cache/recent.ts';
import { Refusal } from '../common/fault.ts';
import type { CallerName } from '../common/principal.ts';
import type { Config } from '../config.ts';
import type { StateKeeper } from '../gateway/asking/input-required.ts';
import type { Scheme } from '../http/checks/authorization.ts';
import { limits } from '../limits/service.ts';
import type { MirrorCredentials } from '../mirror/credentials.ts';
import { isUploader } from '../mirror/uploaders.ts';
import type { SignIns } from '../oauth/sign-ins.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';

/** Revision and clock used to validate cached answers. */
export function revisionsOf({ store }: { readonly store: Store }) {
  return { revision: (tables: readonly AnyTable[], owner: string) => store.revision(tables, owner), now: Date.now };
}

export function accountKeyScheme(accounts: Accounts): Scheme {
  return {
    scheme: 'McpKey',
    name: 'McpKey',
    credential: 'account key or MCP key',
    find: (key) => accounts.authenticate(key),
  };
}

export function accessTokenScheme(tokens: AccessTokens): Scheme {
  return {
    scheme: 'Bearer',
    name: 'AccessToken',
    credential: 'access token',
    find: (token) => tokens.authenticate(token),
  };
}

/** The tokens that upload: that of the mirror credential, and those that do nothing else. */
export function uploadTokenScheme(credentials: MirrorCredentials): Scheme {
  return {
    scheme: 'McpKey',
    name: 'MirrorToken',
    credential: 'mirror token',
    find: (token) => credentials.authenticate(token),
  };
}

/** Throws Refusal `upload_only` for a token that only uploads. */
export function mirrorTokenScheme(credentials: MirrorCredentials): Scheme {
  const find = (token: string) => {
    const found = credentials.authenticate(token);
    if (found !== undefined && isUploader(found.credentialId)) throw new Refusal({ kind: 'upload_only' });
    return found;
  };
  return { ...uploadTokenScheme(credentials), find };
}

/** Accepts mirror tokens, and keys of the account. */
export function drillScheme(credentials: MirrorCredentials, accounts: Accounts): Scheme {
  const token = mirrorTokenScheme(credentials);
  return {
    ...token,
    credential: 'mirror token or MCP key',
    find: (value) => accounts.authenticate(value) ?? token.find(value),
  };
}

/** Names a caller by its key, or by the device or app that it signed in as. */
export function callerNames({ accounts, signIns }: { accounts: Accounts; signIns: SignIns }): CallerName {
  // The name of a credential never changes.
  const known = new Recent<string>(limits.credentialsRememberedMax);
  return (principal) => {
    const { credentialId, signInId } = principal;
    const before = known.get(credentialId);
    if (before !== undefined) return before;
    const name = accounts.keyName(principal) ?? (signInId === undefined ? undefined : signIns.nameOf(signInId));
    const shown = (name ?? 'access token').slice(0, limits.changedByCharsMax);
    known.set(credentialId, shown, 1);
    return shown;
  };
}

/** Returns the base URL of this service for a request's Host, or the public URL when configured. */
export function baseUrlOf({ tls, publicUrl }: Config): (host: string) => string {
  const scheme = tls === undefined ? 'http' : 'https';
  return (host) => publicUrl ?? `${scheme}://${host}`;
}

/** Keyed hash used to seal the state of questions to the person at a client. */
export function statesOf({ sealer }: { readonly sealer: Sealer }): StateKeeper {
  return { keyedHash: (purpose, text) => sealer.keyedHash(purpose, text), now: Date.now };
}
