/** Describes an authenticated caller for the rest of the service: the account whose data it may use. */
export interface Principal {
  readonly accountId: string;
  /** The key, or the mirror credential, that authenticated the caller. */
  readonly credentialId: string;
  /** Read-only: a token of scope `read`, or a read-only key. */
  readonly readOnly?: boolean;
  /** The sign-in of a device or app that the token belongs to. */
  readonly signInId?: string;
}

/** Returns the name that records show for a change by this caller. */
export type CallerName = (principal: Principal) => string;

/** True when the caller is a client that can ask its user for a token with a wider scope; a key cannot be widened. */
export function canStepUp({ credentialId }: Principal): boolean {
  return credentialId.startsWith('token_');
}
