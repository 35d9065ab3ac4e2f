/** What the rest of the service knows of a caller once the credential was checked: whose data may be touched. */
export interface Session {
  readonly accountId: string;
  /** The key, or the mirror credential, that opened this session. */
  readonly credentialId: string;
}
