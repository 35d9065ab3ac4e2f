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

/** A record that names who changed it last. */
export interface Signed {
  /** Who made the latest change, also a deletion: the name of a key, device, app or browser; absent: unknown. */
  readonly changed_by?: string | undefined;
}

/** Returns the record with the name of who made this change; undefined: unknown. */
export function changedBy<R extends Signed>(record: R, by: string | undefined): R {
  if (record.changed_by === undefined && by !== undefined) return { ...record, changed_by: by };
  const { changed_by: _, ...unsigned } = record;
  return (by === undefined ? unsigned : Object.assign(unsigned, { changed_by: by })) as R;
}

/** True when the caller is a client that can ask its user for a token with a wider scope; a key cannot be widened. */
export function canStepUp({ credentialId }: Principal): boolean {
  return credentialId.startsWith('token_');
}
