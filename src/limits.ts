/** Owns every number that bounds the service. A limit has one name, its unit last, and stands here only. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  // Front door.
  /** Largest header block of one request; the HTTP library reads it once, when it is loaded. */
  headerBlockBytesMax: 16 * KiB,
  /** Largest JSON body on a REST surface. */
  jsonBodyBytesMax: 1 * MiB,
  /** Deepest nesting of a JSON body. */
  jsonDepthMax: 64,
  /** What is unread of a refused body is discarded up to here, so that a client that sends on reads its answer. */
  discardedBodyBytesMax: 64 * MiB,
  /** A caller's own X-Request-Id is kept up to this length. */
  requestIdCharsMax: 64,
  /** Bytes of one download written in one turn of the event loop, so that a fast reader holds up nobody. */
  sendTurnBytesMax: 4 * MiB,
  /** How often waiting requests are held against their deadlines. */
  deadlineSweepMs: 500,
  /** What a refused client is told to wait. */
  retryAfterSeconds: 1,

  // Settable times (defaults) and their bounds.
  bodySecondsDefault: 120,
  handlerSecondsDefault: 30,
  drainSecondsDefault: 10,
  settingSecondsMax: 3600,

  // Certificate mirror.
  /** Largest upload body (interface specification, section 8). */
  uploadBytesMax: 50 * MiB,
  /** A blob is stored as pieces of this size; one large value would hold the store's only writer. */
  chunkBytes: 1 * MiB,
  /** Up to here a body is hashed in one pool job and published without staging. */
  wholeUploadBytesMax: 64 * KiB,
  /** Declared body bytes of all uploads that run at once (default of CAIRN_INFLIGHT_BYTES). */
  inflightBytesDefault: 256 * MiB,
  /** Staged bytes handed to the store and not yet on disk, over all uploads. */
  stagingBytesMax: 8 * MiB,
  /** How long discarded bytes that could not be removed (a full disk) wait for the next try. */
  discardRetryMs: 15_000,
  uploadedByCharsMax: 255,
  blobPageDefault: 1000,
  blobPageMax: 1000,

  // Accounts.
  accountKeysLiveMax: 50,
  emailCharsMax: 254,
  nameCharsMax: 100,
  /** A key's last use is written at most this often. */
  lastUsedMs: 60_000,

  // Actors.
  mailboxDepthMax: 1024,
  actorIdleMs: 60_000,

  // Pool.
  poolJobsPerThread: 256,
  poolQueueMax: 1024,
  /** Freed 1 MiB buffers that are kept for the next upload, and how long those that nobody needs. */
  spareBuffersMax: 512,
  spareTrimMs: 10_000,

  // Store.
  /** Address space reserved for the memory map; the file grows inside it. */
  mapBytes: 1024 * 1024 * MiB,
  tablesMax: 64,
  /** Longest encoded key that LMDB's 4 KiB pages take. */
  keyBytesMax: 1900,
  /** Decisions that share one durable commit at the most. */
  groupDecisionsMax: 1024,
  /** With less than this free, a failed write is told as a full disk (LMDB reports a short write as EIO). */
  diskFreeBytesMin: 16 * MiB,

  // Control socket.
  controlRequestBytesMax: 64 * KiB,
  controlSeconds: 30,
} as const;
