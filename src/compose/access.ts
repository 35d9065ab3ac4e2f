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
import type { JobAccess } from '../mirror/fields.ts';
import { jobAccessOf } from '../mirror/uploaders.ts';
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

/**
 * The tokens of backups: that of the account's credential, and those of CI jobs that may do what `access` says; without
 * it none of them. Throws Refusal `upload_only` or `download_only` for the others.
 */
export function mirrorTokenScheme(credentials: MirrorCredentials, access?: JobAccess): Scheme {
  const find = (token: string) => {
    const found = credentials.authenticate(token);
    const only = found && jobAccessOf(found.credentialId);
    if (only !== undefined && only !== access)
      throw new Refusal({ kind: only === 'upload' ? 'upload_only' : 'download_only' });
    return found;
  };
  return { scheme: 'McpKey', name: 'MirrorToken', credential: 'mirror token', find };
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
