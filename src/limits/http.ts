/** Limits of the front door: bodies, answers, shares of callers, deadlines; part of `limits`. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const httpLimits = {
  // Front door.
  /** Largest header block of one request. The HTTP library reads this only when it is loaded. */
  headerBlockBytesMax: 16 * KiB,
  /** Largest JSON body of a REST request. */
  jsonBodyBytesMax: 1 * MiB,
  /** Largest JSON body read of a call above the rate, to name its request in the refusal. */
  refusedBodyBytesMax: 16 * KiB,
  /** Deepest nesting of a JSON body. */
  jsonDepthMax: 64,
  /** Largest body of a request without a valid credential. */
  strangerBodyBytesMax: 64 * KiB,
  /** Bytes of a body counted before they arrive. */
  bodyBytesAhead: 64 * KiB,
  /** The most bytes that the HTTP library reads from a socket at once. */
  readBytesMax: 512 * KiB,
  /** Values in a JSON body. Limits its memory after parsing, and how long parsing blocks the main thread. */
  jsonValuesMax: 100_000,
  /** Largest unread rest of a refused body that is discarded, so that a client still sending can read its answer. */
  discardedBodyBytesMax: 64 * MiB,
  /** Whole bodies up to a third of this are encoded in one buffer shared by all replies. */
  replyBufferBytes: 128 * KiB,
  /** Longest X-Request-Id accepted from a caller. */
  requestIdCharsMax: 64,
  /** Bytes sent by all streamed bodies together in one turn of the event loop, and the duration of that turn. */
  sendTurnBytesMax: 1 * MiB,
  sendTurnMsMax: 1,
  /** A streamed body up to this size is sent together with its head. */
  sentWithHeadBytesMax: 64 * KiB,
  /** Minimum counted for one step of a stream: a full socket accepts nothing, and a turn must still end. */
  sendStepBytesMin: 16 * KiB,
  /** Bytes buffered of a body that is produced while it is sent. */
  replyChunkBytes: 128 * KiB,
  /** A reader with a lower average rate is disconnected after CAIRN_STALL_SECONDS. */
  sendBytesPerSecondMin: 16 * KiB,
  /** How often unaccepted bytes are offered to a socket again: the HTTP library disconnects it after ten seconds. */
  sendRetryMs: 4000,
  /** CAIRN_CONNECTIONS: concurrent sockets. */
  connectionsDefault: 10_000,
  /** How often the kernel's table of connections is read while connections are scarce. */
  peersAskedMs: 1000,
  /** Connections that an address may always have. */
  peerConnectionsMin: 64,
  /** Files that the process needs open in addition to its connections. */
  openFilesReserve: 256,
  /** Below this, Node.js fails while it loads the modules of a command, many at a time. */
  openFilesMin: 256,
  /** CAIRN_STREAMS: concurrent answers sent piece by piece. */
  streamsDefault: 1000,
  /** CAIRN_LOOP_DELAY_MS: new work is refused while the median delay of the event loop is above this. */
  loopDelayMsDefault: 500,
  /** Concurrent connections on the metrics' separate port. */
  metricsConnectionsMax: 64,
  loopSampleMs: 10,
  loopWindowMs: 500,
  /** How often the deadlines of active requests are checked. */
  deadlineSweepMs: 500,
  /** Retry-After of a refused client. */
  retryAfterSeconds: 1,

  // Rate limits (defaults). A caller is a key, or an address without one.
  /** CAIRN_RATE_LIMIT: sustained calls per minute. */
  callsPerMinuteDefault: 600,
  /** Calls allowed at once, as a fraction of the calls per minute. */
  callBurstShare: 1 / 3,
  /** CAIRN_SIGNIN_LIMIT: sign-ins and failed credentials per minute, per address and per email. */
  signInsPerMinuteDefault: 10,
  /** Guessers remembered at once. */
  rateCallersMax: 100_000,
  /** Slots for the callers of a limiter, and the number of slots tried for one caller. */
  rateSlots: 262_144,
  rateSlotsTried: 8,

  // Configurable times (defaults) and their limits.
  bodySecondsDefault: 60,
  /** Longest time for a body without a valid credential. */
  strangerBodySeconds: 30,
  /** Average rate required of a body that takes longer than its timeout. */
  bodyBytesPerSecondMin: 16 * KiB,
  handlerSecondsDefault: 30,
  drainSecondsDefault: 10,
  /** CAIRN_STALL_SECONDS: a reader that accepts nothing for this long is disconnected. */
  stallSecondsDefault: 30,
  settingSecondsMax: 3600,
} as const;
