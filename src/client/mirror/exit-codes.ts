/** Exit codes of the backup commands beyond 0 done, 1 refused, 2 wrong usage. The manual lists them. */
export const backupExit = {
  /** The hub is unreachable or overloaded, also after retries. */
  unreachable: 4,
  /** The credential or the sign-in is missing, revoked or replaced. */
  credential: 5,
  /** The archive is encrypted for another key. */
  key: 6,
  /** The archive is damaged, unsafe or above a limit. */
  damaged: 7,
  /** The quota of the account or a disk is full. */
  full: 8,
} as const;
