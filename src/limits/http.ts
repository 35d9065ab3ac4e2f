/** The bounds of the front door: bodies, answers, shares of callers, deadlines; `limits` shows them among all others. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const httpLimits = {
  // Front door.
  /** Largest header block of one request; the HTTP library reads it once, when it is loaded. */
  headerBlockBytesMax: 16 * KiB,
  /** Largest JSON body on a REST surface. */
  jsonBodyBytesMax: 1 * MiB,
  /** Largest JSON body that is read of a call above the rate, to name its request in the refusal. */
  refusedBodyBytesMax: 16 * KiB,
  /** Deepest nesting of a JSON body. */
  jsonDepthMax: 64,
  /** Largest body without a valid credential. */
  strangerBodyBytesMax: 64 * KiB,
  /** What of a body is counted before it has arrived. */
  bodyBytesAhead: 64 * KiB,
  /** Values in a JSON body: what a body may become in memory, and hold up the main thread for, is bounded by this. */
  jsonValuesMax: 100_000,
  /** What is unread of a refused body is discarded up to here, so that a client that sends on reads its answer. */
  discardedBodyBytesMax: 64 * MiB,
  /** Whole bodies up to a third of this are put together in one buffer that all replies share. */
  replyBufferBytes: 128 * KiB,
  /** A caller's own X-Request-Id is kept up to this length. */
  requestIdCharsMax: 64,
  /** What all streamed bodies together send in one turn of the event loop, so that they hold up nobody, and how long. */
  sendTurnBytesMax: 1 * MiB,
  sendTurnMsMax: 1,
  /** A streamed body of at most so many bytes goes out with its head. */
  sentWithHeadBytesMax: 64 * KiB,
  /** What a step of a stream counts for at the least: a full socket takes nothing, and a turn must end all the same. */
  sendStepBytesMin: 16 * KiB,
  /** Bytes of an answer that are on their way from the hub thread to the socket of a front. */
  handedBytesAhead: 256 * KiB,
  /** A body up to here is looked at in a front, to tell whether it only reads. */
  peekedBytesMax: 16 * KiB,
  /** CAIRN_FRONTS at the most. */
  frontsMax: 32,
  /** How long a front may take to begin, to tell its figures, and before one that ended at once is started again. */
  frontStartMs: 30_000,
  frontFiguresMs: 1000,
  frontRestartMs: 1000,
  /** How long a front that leaves waits for connections that were accepted for it. */
  frontLeaveMs: 100,
  /** What of a body that is made while it is sent is held at once. */
  replyChunkBytes: 128 * KiB,
  /** A reader that takes less than this on average is cut off, once CAIRN_STALL_SECONDS have passed. */
  sendBytesPerSecondMin: 16 * KiB,
  /** How often an answer that the socket did not take is offered again: the HTTP library gives up after ten seconds. */
  sendRetryMs: 4000,
  /** CAIRN_CONNECTIONS: sockets at once. */
  connectionsDefault: 10_000,
  /** How often the kernel is asked whose they are, while they are scarce. */
  peersAskedMs: 1000,
  /** What an address may hold of them in any case. */
  peerConnectionsMin: 64,
  /** Files that the process needs open beside its connections. */
  openFilesReserve: 256,
  /** CAIRN_STREAMS: answers that are sent piece by piece at once. */
  streamsDefault: 1000,
  /** CAIRN_LOOP_DELAY_MS: new work is refused while the median delay of the event loop is above this. */
  loopDelayMsDefault: 500,
  /** Connections at once on the metrics' own port. */
  metricsConnectionsMax: 64,
  loopSampleMs: 10,
  loopWindowMs: 500,
  /** How often waiting requests are held against their deadlines. */
  deadlineSweepMs: 500,
  /** What a refused client is told to wait. */
  retryAfterSeconds: 1,

  // Rate limits (defaults). A caller is a key, or an address when there is none.
  /** CAIRN_RATE_LIMIT: sustained calls a minute. */
  callsPerMinuteDefault: 600,
  /** Calls that may come at once, as a part of a minute's. */
  callBurstShare: 1 / 3,
  /** CAIRN_SIGNIN_LIMIT: sign-ins and failed credentials a minute, per address and per email. */
  signInsPerMinuteDefault: 10,
  /** Guessers that are remembered at once. */
  rateCallersMax: 100_000,
  /** Slots for the callers of a limiter, which all threads share, and in how many of them a caller may be. */
  rateSlots: 262_144,
  rateSlotsTried: 8,

  // Settable times (defaults) and their bounds.
  bodySecondsDefault: 60,
  /** How long a body may take without a valid credential, at the most. */
  strangerBodySeconds: 30,
  /** Beyond that time a body must have brought so much on average. */
  bodyBytesPerSecondMin: 16 * KiB,
  handlerSecondsDefault: 30,
  drainSecondsDefault: 10,
  /** CAIRN_STALL_SECONDS: a reader that takes nothing for this long is cut off. */
  stallSecondsDefault: 30,
  settingSecondsMax: 3600,
} as const;
