/** What the doors of every thread share: which credentials there are, and what a remembered answer is checked by. */
import type { Accounts } from '../accounts/service.ts';
import type { AccessTokens } from '../accounts/tokens.ts';
import type { Config } from '../config.ts';
import type { StateKeeper } from '../gateway/live/input-required.ts';
import type { Scheme } from '../http/checks/authorization.ts';
import type { MirrorCredentials } from '../mirror/credentials.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';

/** What answers that are given again are checked by. */
export function revisionsOf({ store }: { readonly store: Store }) {
  return { revision: (tables: readonly AnyTable[], owner: string) => store.revision(tables, owner), now: Date.now };
}

export function accountKeyScheme(accounts: Accounts): Scheme {
  return { scheme: 'McpKey', credential: 'account key or MCP key', find: (key) => accounts.authenticate(key) };
}

export function accessTokenScheme(tokens: AccessTokens): Scheme {
  return { scheme: 'Bearer', credential: 'access token', find: (token) => tokens.authenticate(token) };
}

export function mirrorTokenScheme(credentials: MirrorCredentials): Scheme {
  return { scheme: 'McpKey', credential: 'mirror token', find: (token) => credentials.authenticate(token) };
}

/** This service as a request addressed it, unless the operator named its address. */
export function baseUrlOf({ tls, publicUrl }: Config): (host: string) => string {
  const scheme = tls === undefined ? 'http' : 'https';
  return (host) => publicUrl ?? `${scheme}://${host}`;
}

/** What questions to the person at a client are sealed with. */
export function statesOf({ sealer }: { readonly sealer: Sealer }): StateKeeper {
  return { keyedHash: (purpose, text) => sealer.keyedHash(purpose, text), now: Date.now };
}
