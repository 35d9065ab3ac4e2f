/** The bounds of the command line client; `limits` shows them among all others. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const clientLimits = {
  /** How long a hub may take for a whole answer. */
  clientSecondsDefault: 60,
  /** How long a call of a tool may go without a byte in either direction; longer than a question for news waits. */
  clientIdleSeconds: 120,
  /** The slowest upload or download that a user may choose: a hub closes slower ones (NET-7). */
  clientPaceMin: 32 * KiB,
  /** Requests of one MCP client that `cairn mcp` has under way at the same time. */
  bridgeRequestsMax: 16,
  /** What an archive of the mirror may unpack to. */
  unpackedBytesMax: 1024 * MiB,
  /** How long a transfer of the mirror may take. */
  clientTransferSeconds: 600,
  /** Files, and bytes of files, that a sync pushes in one request. */
  clientPushFiles: 500,
  clientPushBytes: 6 * MiB,
  /** How long one request with files should take, bytes of the first, and of the smallest. */
  clientPortionMs: 5000,
  clientPortionBytes: 1 * MiB,
  clientPortionBytesMin: 256 * KiB,
  /** Ranges of own changes that a folder remembers until the next pull; they must fit into pullSkipCharsMax. */
  clientOwnRanges: 120,
  /** Changes that a sync pulls in the first request, and at least and at most in a later one; it goes on after each of them. */
  clientPullFilesFirst: 100,
  clientPullFilesMin: 10,
  clientPullFilesMax: 5000,
  /** Paths that a sync asks for by name in one request. */
  clientPullPaths: 500,
  /** How long a replaced or removed file is kept aside, in case a program still writes to it. */
  clientAsideMs: 10_000,
  /** A save that stands still for so long while a sync is under way is copied; and the room that such copies may take. */
  clientStillMs: 700,
  clientSavesBytesMax: 64 * MiB,
  /** How much work a sync does before it saves its state. */
  clientSaveMs: 5000,
  /** How often a sync pulls and pushes again while the hub moves in between. */
  clientSyncRounds: 5,
  /** How long a watched folder must be quiet before it is synced, how long that is waited for, how long a question for news takes. */
  clientQuietMs: 300,
  clientQuietMsMax: 1000,
  clientWaitSeconds: 50,
  /** The shortest time from one question for news to the next, when the hub does not wait with its answer. */
  clientNewsMs: 5000,
  /** A watched folder is looked at as a whole this often, whatever the watcher noticed. */
  clientRescanMs: 300_000,
  /** Pause after a sync failed; doubled with each failure, up to the longest. */
  clientRetryMs: 1000,
  clientRetryMsMax: 60_000,
  /** How often a paused watch looks whether it goes on. */
  clientPausedMs: 1000,
  /** How often a watch sends again what the hub refused. */
  clientRefusedMs: 600_000,
  /** Lines that a sync prints of one kind before it sums up. */
  clientLinesMax: 20,
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
  /** How often a holder says that it lives. */
  clientLockBeatMs: 30_000,
} as const;
