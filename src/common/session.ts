/** What the rest of the service knows of a caller once the credential was checked: whose data may be touched. */
export interface Session {
  readonly accountId: string;
  /** The key, or the mirror credential, that opened this session. */
  readonly credentialId: string;
  /** It may read and change nothing: a token of scope `read`, or a read-only key. */
  readonly readOnly?: boolean;
}

/** True where the caller is a client that can ask its user for a wider token: a key stays what it is. */
export function canStepUp({ credentialId }: Session): boolean {
  return credentialId.startsWith('token_');
}
