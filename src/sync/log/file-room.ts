/** What file sync asks about the room of an account. */
export interface FileRoom {
  /** Content bytes that its current files and pending conflicts may have. */
  quotaOf(accountId: string): number;
  /** Refuses with `storage_reserved` while the disk is nearly full, unless the operator marked the account. */
  checkReserve(accountId: string): void;
  /** Counts a write that the quota refused. */
  noteRefused(): void;
}
