/** The bounds of the command line client; `limits` shows them among all others. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const clientLimits = {
  /** How long a hub may take for a whole answer. */
  clientSecondsDefault: 60,
  /** How long a transfer of the mirror may take. */
  clientTransferSeconds: 600,
  /** Files, and bytes of files, that a sync pushes in one request. */
  clientPushFiles: 50,
  clientPushBytes: 6 * MiB,
  /** A sync deletes more files than this on the hub only when that is less than half of all. */
  clientDeletesMin: 20,
  /** How often a sync pulls and pushes again while the hub moves in between. */
  clientSyncRounds: 5,
  /** How long a watched folder must be quiet before it is synced, and how long one question for news takes. */
  clientQuietMs: 300,
  clientWaitSeconds: 50,
  /** Pause after a hub could not be reached. */
  clientRetryMs: 5000,
  /** Blobs that the client lists unless it is told how many. */
  clientListDefault: 20,
  /** Largest answer that is taken. */
  clientAnswerBytesMax: 64 * MiB,
  /** An access token with less than this left is renewed first. */
  clientRenewMs: 60_000,
  /** Longest pause between two polls of a device login while the hub cannot be reached. */
  clientPollSecondsMax: 60,
  /** A lock that is older belongs to nobody; longer than what runs under one can take. */
  clientLockStaleMs: 180_000,
  clientLockWaitMs: 200_000,
  clientLockPollMs: 50,
} as const;
