/** Limits of the command line client; part of `limits`. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const clientLimits = {
  /** Default timeout for a whole answer of a hub. */
  clientSecondsDefault: 60,
  /** Idle timeout of a tool call, without a byte in either direction; longer than a long poll for changes. */
  clientIdleSeconds: 120,
  /** The slowest upload or download that a user may configure: a hub closes slower ones (NET-7). */
  clientPaceMin: 32 * KiB,
  /** Concurrent requests of one MCP client through `cairn mcp`. */
  bridgeRequestsMax: 16,
  /** Largest unpacked size of an archive of the mirror. */
  unpackedBytesMax: 1024 * MiB,
  /** Timeout of a transfer of the mirror. */
  clientTransferSeconds: 600,
  /** Files, and bytes of files, pushed by a sync in one request. */
  clientPushFiles: 500,
  clientPushBytes: 6 * MiB,
  /** Target duration of one request with files, and the bytes of the first request and of the smallest. */
  clientPortionMs: 5000,
  clientPortionBytes: 1 * MiB,
  clientPortionBytesMin: 256 * KiB,
  /** Ranges of its own changes that a folder remembers until the next pull; they must fit into pullSkipCharsMax. */
  clientOwnRanges: 120,
  /**
   * Changes pulled in the first request of a sync, and the fewest and most in a later one. A sync resumes after each.
   */
  clientPullFilesFirst: 100,
  clientPullFilesMin: 10,
  clientPullFilesMax: 5000,
  /** Paths that a sync requests by name in one request. */
  clientPullPaths: 500,
  /** How long a replaced or removed file is kept aside, in case a program still writes to it. */
  clientAsideMs: 10_000,
  /** A file unchanged for so long during a sync is copied as a save; and the total size of such copies. */
  clientStillMs: 700,
  clientSavesBytesMax: 64 * MiB,
  /** A file of at least this size that a program keeps writing to is sent less often; and how long it must stand still. */
  clientRestlessBytes: 256 * KiB,
  clientRestMs: 1500,
  /** How long a sync works before it saves its state. */
  clientSaveMs: 5000,
  /** How often a sync pulls and pushes again while the hub changes in between. */
  clientSyncRounds: 5,
  /**
   * How long a watched folder must be quiet before a sync, the longest wait for that, and the duration of a long poll.
   */
  clientQuietMs: 300,
  clientQuietMsMax: 1000,
  clientWaitSeconds: 50,
  /** Shortest interval between a sync and the next one that changes of the hub cause. */
  clientNewsGapMs: 500,
  /** Shortest interval between two polls for changes, when the hub answers without waiting. */
  clientNewsMs: 5000,
  /** Interval of full scans of a watched folder, whatever the watcher reported. */
  clientRescanMs: 300_000,
  /** The same when the system does not report every change. */
  clientBlindRescanMs: 20_000,
  /** Pause after a failed sync, doubled with each failure up to the maximum. */
  clientRetryMs: 1000,
  clientRetryMsMax: 60_000,
  /** How often a paused watch checks whether to resume. */
  clientPausedMs: 1000,
  /** How often a watch retries refused changes. */
  clientRefusedMs: 600_000,
  /** Lines of one kind printed by a sync before it summarizes. */
  clientLinesMax: 20,
  /** Default number of blobs in a list. */
  clientListDefault: 20,
  /** Largest accepted answer. */
  clientAnswerBytesMax: 64 * MiB,
  /** An access token with less remaining lifetime is renewed first. */
  clientRenewMs: 60_000,
  /** Longest pause between two polls of a device sign-in while the hub is unreachable. */
  clientPollSecondsMax: 60,
  /** An older lock is stale. Longer than any work done under a lock. */
  clientLockStaleMs: 180_000,
  clientLockWaitMs: 200_000,
  clientLockPollMs: 50,
  /** How often the holder of a lock refreshes it. */
  clientLockBeatMs: 30_000,
} as const;
