/** Parses the Authorization header: a scheme, one space, a value. */
import { Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import type { Authenticator, SecurityScheme } from '../route/route.ts';

export interface Scheme {
  readonly scheme: string;
  /** Name in the documents. */
  readonly name: SecurityScheme;
  /** Name of the credential, used in refusals to show what to send. */
  readonly credential: string;
  /** Returns the principal of a presented value, or undefined when it is invalid; a promise when the check takes time. */
  readonly find: (value: string) => Principal | undefined | Promise<Principal | undefined>;
}

/** Creates the check of a surface that accepts these schemes. Refusals ask for the first one. */
export function createAuthenticator(first: Scheme, ...others: readonly Scheme[]): Authenticator {
  const schemes = [first, ...others];
  const refuse = (what: string) =>
    new Refusal({
      kind: 'unauthenticated',
      scheme: first.scheme,
      detail: `${what}; send Authorization: ${first.scheme} <${first.credential}>`,
    });
  /** What a script sends whose variable is empty: the right scheme, so it is not told that it is the wrong one. */
  const nothingAfter = (authorization: string): string | undefined => {
    const alone = authorization.trimEnd().toLowerCase();
    const bare = schemes.find(({ scheme }) => scheme.toLowerCase() === alone);
    return bare && `the Authorization header has nothing after ${bare.scheme}`;
  };
  const authenticate = (authorization: string | undefined) => {
    if (authorization === undefined || authorization === '') throw refuse('the Authorization header is missing');
    const used = schemes.find(({ scheme }) => isOfScheme(authorization, scheme));
    if (used === undefined)
      throw refuse(nothingAfter(authorization) ?? 'the Authorization header has the wrong scheme');
    const opened = (principal: Principal | undefined) => {
      if (principal !== undefined) return principal;
      throw refuse(nothingAfter(authorization) ?? `this ${used.credential} is unknown or no longer valid`);
    };
    const found = used.find(authorization.slice(used.scheme.length + 1));
    return found instanceof Promise ? found.then(opened) : opened(found);
  };
  return Object.assign(authenticate, { accepts: schemes.map(({ name }) => name) });
}

/** The same check, followed by a check of the account, which may refuse. */
export function guarded(access: Authenticator, checkAccount: (accountId: string) => void): Authenticator {
  const checked = (principal: Principal) => {
    checkAccount(principal.accountId);
    return principal;
  };
  const authenticate = (authorization: string | undefined) => {
    const principal = access(authorization);
    return principal instanceof Promise ? principal.then(checked) : checked(principal);
  };
  return Object.assign(authenticate, { accepts: access.accepts });
}

/**
 * Some clients send `bearer`, which RFC 9110, section 11.1 allows. McpKey is Cairn's own scheme and is case-sensitive.
 */
function isOfScheme(authorization: string, scheme: string): boolean {
  const given = authorization.slice(0, scheme.length + 1);
  return scheme === 'Bearer' ? given.toLowerCase() === 'bearer ' : given === `${scheme} `;
}
