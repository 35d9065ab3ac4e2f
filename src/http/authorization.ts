/** Owns the form of the Authorization header: a scheme, one space, a value. */
import { Refusal } from '../fault.ts';
import type { Session } from '../session.ts';
import type { Authenticator } from './route.ts';

export interface Scheme {
  readonly scheme: string;
  /** What a caller is told to send, for the message of a refusal. */
  readonly credential: string;
  /** The session that a presented value opens; undefined: none. */
  readonly find: (value: string) => Session | undefined;
}

/** The check of a surface that takes one scheme. */
export function createAuthenticator({ scheme, credential, find }: Scheme): Authenticator {
  const refuse = (what: string) =>
    new Refusal({ kind: 'unauthenticated', scheme, detail: `${what}; send Authorization: ${scheme} <${credential}>` });
  const prefix = `${scheme} `;
  return (authorization) => {
    if (authorization === undefined || authorization === '') throw refuse('the Authorization header is missing');
    if (!authorization.startsWith(prefix)) throw refuse('the Authorization header has the wrong scheme');
    const session = find(authorization.slice(prefix.length));
    if (session === undefined) throw refuse(`this ${credential} is unknown or no longer valid`);
    return session;
  };
}
