/** Defines every limit of the service. Each has one name, ending with its unit, and is defined only here. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  // Front door.
  /** Largest header block of one request. The HTTP library reads this only when it is loaded. */
  headerBlockBytesMax: 16 * KiB,
  /** Shorter pages are sent as they are: compressed, they would take as many packets. */
  compressedBytesMin: KiB,
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
  /** Receive buffer of a connection from this machine; the system doubles it for its own use. Below `readBytesMax`. */
  receiveBufferBytes: 128 * KiB,
  /** Values in a JSON body. Limits its memory after parsing, and how long parsing blocks the main thread. */
  jsonValuesMax: 100_000,
  /** Largest unread rest of a refused body that is discarded, so that a client still sending can read its answer. */
  discardedBodyBytesMax: 64 * MiB,
  /** How long an answer that closes its connection waits for that rest, and how long for the next bytes of it. */
  discardSeconds: 30,
  discardPauseSeconds: 5,
  /** Whole bodies up to a third of this are encoded in one buffer shared by all replies. */
  replyBufferBytes: 128 * KiB,
  requestIdCharsMax: 64,
  /** A streamed body up to this size is sent together with its head. */
  sentWithHeadBytesMax: 64 * KiB,
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

  // Rate limits (defaults). A caller is a key, or an address without one; its account has a limit too.
  /** CAIRN_RATE_LIMIT: sustained calls per minute. */
  callsPerMinuteDefault: 600,
  /** CAIRN_ACCOUNT_RATE_LIMIT: calls per minute of an account, as a multiple of those of one key. */
  accountCallsPerKey: 3,
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

  // Gateway.
  gatewayBodyBytesMax: 16 * MiB,
  /** JSON bodies above either limit are checked in the pool. */
  parseInlineBytesMax: 32 * KiB,
  parseInlineValuesMax: 5000,
  /** Pieces in which the main thread parses a document of the pool: values, and bytes. */
  parsePieceValues: 500,
  parsePieceBytes: 64 * KiB,
  /**
   * Pace of an account's JSON bodies above those limits, without their long contents: the next one is read when the last
   * would be over at this pace. The collector stops the thread for some 7 ms for 50,000 objects that stay, and a text of
   * 15 MiB takes 13 ms to arrive from the pool.
   */
  parsedValuesPerSecond: 200_000,
  parsedBytesPerSecond: 16 * MiB,
  batchItemsMax: 100,
  /** Bytes of text in a result. A longer one is cut, with a sentence on how to get the rest. */
  toolTextBytesMax: 64 * KiB,
  /** Resources per page, completions of an argument, and characters of a URI in an error. */
  resourcesPage: 100,
  completionsMax: 100,
  resourceUriShownMax: 200,
  /** The search index: things of a new segment, segments that are joined, words that one beginning stands for. */
  searchSegmentThings: 250,
  searchSegmentsJoined: 4,
  searchJoinedThingsMax: 32_000,
  searchPrefixWords: 400,
  /** Characters of a text that are indexed, and accounts whose index is kept in memory. */
  searchIndexedChars: 1 * MiB,
  searchAccountsMax: 64,
  /** Memory of the indexes of all accounts; those searched least lately are dropped, but never the last one. */
  searchMemoryBytesMax: 512 * MiB,
  /** Results that pages can reach, and rankings that cursors continue. */
  searchRankedMax: 1000,
  searchRankingsMax: 64,
  /** How long searches wait for an index that is being made; then they answer with what is there. */
  searchWaitMs: 5000,
  /** Time that indexing takes in one go, so that searches come between, and keys that it reads in one go. */
  searchSliceMs: 10,
  searchKeysAtOnce: 500,
  /** Written things that a search reads first; when more are behind, it reads so many of the newest. */
  searchCaughtUpThings: 1000,
  searchNewestThings: 50,
  searchPageDefault: 10,
  searchPageMax: 50,
  /** First results, whose texts decide their order. */
  searchReread: 30,
  /** Characters of texts that one search reads for phrases; 0.1 to 0.3 s of its thread, in slices. */
  searchPhraseChars: 8 * MiB,
  searchSnippets: 3,
  /**
   * Cached tasks of lists, in characters of their JSON; cached rows of orders and counters; cached rows at one end of
   * an order.
   */
  taskCharsRememberedMax: 8 * MiB,
  taskRowsRememberedMax: 50_000,
  taskEndRowsMax: 256,
  /** Cache sizes over all callers: results of tools, pages of lists, and the largest cached answer. */
  resultsRememberedBytesMax: 32 * MiB,
  pagesRememberedBytesMax: 16 * MiB,
  answerRememberedBytesMax: 256 * KiB,
  /** Remembered questions: an answer is cached when its question is asked a second time. */
  answersAskedMax: 10_000,
  /** Longest arguments, as JSON, and longest query of a cached answer. */
  questionCharsMax: 1024,
  /** A larger listing is sent as lines even without a request for lines, if the client accepts them. */
  linesUnaskedBytes: 1 * MiB,

  // Certificate mirror.
  /** Largest upload body (interface specification, section 8). */
  uploadBytesMax: 50 * MiB,
  /** A blob is stored in chunks of this size; one large value would block the store's only writer. */
  chunkBytes: 1 * MiB,
  /** Bodies up to this size are hashed whole, and their bytes are written by the decision that publishes them. */
  wholeUploadBytesMax: 64 * KiB,
  /** Bodies up to this size are hashed by the thread that received them. */
  hashedHereBytesMax: 16 * KiB,
  /** Longer ones that go to the hashing thread together: some two milliseconds of it. */
  bodiesDigestedAtOnce: 16,
  /** Body bytes in memory at once (CAIRN_INFLIGHT_BYTES). One caller's share of the minimum fits the largest upload. */
  inflightBytesDefault: 256 * MiB,
  inflightBytesMin: 80 * MiB,
  /**
   * Staged bytes of all uploads, passed to the store and not yet on disk. Uploads that go on arriving wait until they have as
   * many. Less than `uploadBytesUnderWay`.
   */
  stagingBytesMax: 4 * MiB,
  /** As `stagingBytesMax` while decisions are committed, and for how long after one they count as being committed. */
  stagingBytesBesideWrites: 1 * MiB,
  busyWritesMs: 250,
  /** Chunks of one upload that the pool has at once. */
  chunksHashedAhead: 3,
  /** Bytes of streamed uploads between socket and disk, above which their senders wait. */
  uploadBytesUnderWay: 16 * MiB,
  /** Delay before retrying to remove discarded bytes (after a full disk). */
  discardRetryMs: 15_000,
  uploadedByCharsMax: 255,
  blobPageDefault: 1000,
  blobPageMax: 1000,
  /** Credentials of one account that may only upload. */
  uploadersMax: 50,
  /** Restore drills kept for one account; the oldest are forgotten first. */
  drillsMax: 1000,
  drillDetailCharsMax: 500,
  /** Archives that one request may remove. */
  removedArchivesMax: 100,

  // Accounts.
  accountKeysLiveMax: 50,
  /** CAIRN_PASSWORD_MIN: on a hub that only its own machine reaches, and on one that others reach. */
  passwordBytesMin: 6,
  passwordBytesMinReached: 8,
  passwordBytesMax: 1024,
  emailCharsMax: 254,
  nameCharsMax: 100,
  /** CAIRN_SIGNUPS_PER_DAY: new accounts per UTC day without an invitation, over all callers. */
  signUpsPerDayDefault: 100,
  /** Open invitations, accounts created with one invitation, and its lifetime. */
  invitesMax: 1000,
  inviteUsesMax: 1000,
  inviteDaysDefault: 7,
  inviteDaysMax: 365,
  inviteCodeCharsMax: 64,
  /** Cached time zones of accounts. */
  zonesRememberedMax: 10_000,
  /** Cached credentials of each kind, with their sessions. */
  credentialsRememberedMax: 10_000,
  accessTokenSeconds: 3600,
  /** A key's last use is written at most this often. */
  lastUsedMs: 60_000,

  // Quotas of an account.
  /** CAIRN_MIRROR_QUOTA_BYTES, CAIRN_DOCUMENT_QUOTA_BYTES: content bytes of one account. */
  mirrorQuotaBytesDefault: 50 * 1024 * MiB,
  documentQuotaBytesDefault: 1024 * MiB,
  quotaBytesMax: 2 ** 50,
  /** Bytes counted for each stored text in addition to its own: the rows that index it. */
  recordCountedBytes: 1 * KiB,
  /** Share of the disk, or of the memory map, reserved for accounts marked by the operator. */
  diskReservedShare: 0.05,
  /** Once it was reached, so much more must be free before other accounts can write again. */
  diskReservedSteadyShare: 0.01,
  /** And at least so much: on a small disk, a refused write leaves more than that share free again. */
  diskReservedSteadyBytesMin: 4 * MiB,
  /** How long a measurement of the free space is reused. */
  diskLookedMs: 100,
  accountsPage: 50,

  // Browser sessions and pages.
  /** A session expires this long after its last use. */
  browserSessionIdleSeconds: 7 * 24 * 3600,
  /** A session expires this long after sign-in, used or not. */
  browserSessionSeconds: 30 * 24 * 3600,
  /** Signed-in browsers of one account. A further one ends the least recently used. */
  browserSessionsMax: 20,
  /** Characters stored of a browser's User-Agent, to tell sessions apart. */
  agentCharsMax: 200,
  changedByCharsMax: 200,
  /** Largest body of a form. The longest task, percent-encoded, fits. */
  formBodyBytesMax: 128 * KiB,
  /** How long a one-time notice waits for the page that shows it, and how many can wait at once. */
  noticeSeconds: 120,
  noticesMax: 10_000,
  /**
   * Drafts of text sent after its session had ended: lifetime, longest text (a whole form), drafts per account, and
   * characters of all drafts in memory.
   */
  draftSeconds: 3600,
  draftCharsMax: 4 * MiB,
  /** Answers to sent forms that are remembered, so that a form sent twice is run once. */
  sentFormsRemembered: 8192,
  draftsPerAccountMax: 5,
  /** Forms that wait for a password. */
  heldFormsMax: 256,
  heldFormMs: 10 * 60_000,
  draftCharsTotalMax: 16 * MiB,
  /** The most tasks of a column on one page, and the first tasks of each column on the whole board. */
  boardColumnRows: 50,
  boardFirstRows: 15,
  /** Tasks that one form of the board can change: all that it can show. */
  boardManyMax: 200,
  /** Home page: sessions of recent activity, and due tasks. */
  activityRows: 5,
  /** Sessions on a page of activity, changes read for it, and the pause that ends a session. */
  activitySessions: 20,
  activityEntriesMax: 5000,
  activityGapMs: 15 * 60_000,
  /** Changes listed under a session at first, and on a page of it. */
  activityFirstEntries: 12,
  activitySessionEntries: 200,
  /** Changes listed on the page of a task. */
  taskChangesShown: 30,
  /** Changes that one undo takes back. */
  activityUndoMax: 1000,
  dueRows: 10,
  /** An operator is warned when the last backup is older than this. */
  backupAgeMs: 3 * 24 * 3_600_000,
  /** Tasks of a column with a manual order, done tasks shown expanded, and listed deleted tasks. */
  boardPlacedMax: 500,
  boardDoneOpen: 3,
  trashRowsShown: 200,
  /** Newest changes of a vault that are looked at for deleted files. */
  trashChangesMax: 1000,
  /** Documents of a kind searched by the trash page. */
  binScanMax: 5000,
  blobRowsPerPage: 50,
  documentRowsPerPage: 50,
  fileRowsPerPage: 100,
  versionRowsPerPage: 50,
  /** Conflicts on a page, which one press can settle together, and those of a group that are not folded. */
  conflictRowsPerPage: 500,
  conflictFirstRows: 5,
  /** Characters of a text shown on a page; a longer one is shown in parts. */
  shownTextCharsMax: 256 * KiB,
  /** Longer code is shown without syntax colours, and rendering that takes longer falls back to plain text. */
  highlightCharsMax: 128 * KiB,
  renderMsMax: 1000,
  /** Lines of a comparison, and unchanged lines around each change. */
  diffRowsMax: 3000,
  diffContextLines: 3,
  /** Bytes compared to count the changed lines of a page of versions. */
  countedBytesMax: 512 * KiB,
  /** Longest text compared and edited on a page, and the form with it, percent-encoded. */
  editedTextBytesMax: 512 * KiB,
  editFormBytesMax: 4 * MiB,
  /** Files in one form, and the size of the form, which is read into memory. */
  uploadFilesMax: 200,
  uploadFormBytesMax: 40 * MiB,
  searchCharsMax: 200,
  /** Results on a page of the pages' search. */
  searchRows: 30,
  searchLineChars: 160,
  /** Bytes of files held in memory for page downloads of all readers. */
  pageDownloadBytesMax: 64 * MiB,
  folderDownloadSeconds: 3600,
  /** Exports made or sent at once, the free disk space that they leave, and after how many bytes it is checked. */
  exportsAtOnce: 2,
  exportFreeBytesMin: 1024 * MiB,
  exportCheckBytes: 16 * MiB,
  exportPieceBytes: 256 * KiB,
  exportRetrySeconds: 60,
  /** Longest own path to return to after a sign-in. An authorization request fits. */
  nextPathCharsMax: 8 * KiB,
  /** Open pages of one account notified of changes, each by a stream (CAIRN_STREAMS limits those of all accounts). */
  livePagesPerAccountMax: 100,
  /** How long changes are collected before a page is notified, and the interval of keep-alives of a stream. */
  liveGatherMs: 250,
  liveBeatMs: 20_000,
  /** Lifetime of a stream, and the delay before a browser reopens it: a minimum plus a random spread. */
  liveSeconds: 3600,
  liveRetryMs: 1000,
  liveRetrySpreadMs: 4000,

  // Sign-in of devices (RFC 8628) and their refresh tokens.
  deviceCodeSeconds: 600,
  /** Interval between two polls of a device, and its permanent increase after an early poll (RFC 8628, 3.5). */
  devicePollSeconds: 5,
  devicePollStepSeconds: 5,
  /** A poll early by less counts as on time: clocks and networks are not exact. */
  devicePollSlackMs: 500,
  /** Sign-in requests of devices per minute, over the whole hub; and the part kept for networks with no other. */
  deviceRequestsPerMinuteMax: 1000,
  deviceRequestsKept: 1 / 4,
  /** Expired grants removed by one request of a device. */
  deviceSweepRowsMax: 100,
  /** Wrong user codes of one address or one account, in a window of this length. */
  userCodeTriesMax: 5,
  userCodeTriesMs: 600_000,
  clientIdCharsMax: 100,
  deviceNameCharsMax: 100,
  oauthFormBytesMax: 16 * KiB,
  /** A refresh token unused for so long ends its sign-in: 60 days. */
  refreshTokenSeconds: 60 * 86_400,
  /** A device must sign in again after two years, however much it was used. */
  deviceSignInSeconds: 2 * 365 * 86_400,
  /** How long a used refresh token is accepted once more, in case the answer was lost. */
  refreshRetryMs: 30_000,

  // Authorization code flow and its clients (OAuth 2.1, RFC 7591).
  /** Lifetime of an authorization code: a client exchanges it within a second, and no person carries it. */
  authorizationCodeSeconds: 60,
  authorizationCodesMax: 10_000,
  authorizationCodesPerAccountMax: 20,
  oauthStateCharsMax: 2048,
  redirectUrisMax: 10,
  redirectUriCharsMax: 2048,
  clientRegistrationBytesMax: 16 * KiB,
  /**
   * Name and redirect URIs of a dynamic registration, which are in its client_id: four thirds of it are in each address
   * of an authorization request. Known clients need 60 to 400.
   */
  clientMetadataBytesMax: 1000,
  /** Characters of a client_id that contains its metadata, where people see it. */
  clientIdShownChars: 20,
  operatorClientsMax: 100,
  /** Client ID metadata documents: size, fetch timeout, cache lifetime, cached documents, and concurrent fetches. */
  clientDocumentBytesMax: 16 * KiB,
  clientDocumentMs: 5000,
  clientDocumentFreshMs: 3_600_000,
  clientDocumentsRemembered: 500,
  clientDocumentFetchesMax: 8,
  /** Signed-in devices of an account. A further one ends the least recently used. */
  signInsMax: 100,
  /** Live access tokens of an account. A further one revokes the one that expires first. */
  accessTokensLiveMax: 1000,

  // Sign-in with a password.
  /** Wrong passwords of one browser, or of one address for one email, in a window of this length. */
  passwordTriesMax: 10,
  passwordTriesMs: 600_000,
  /** After this many wrong passwords for one email in that window, from any address, strangers try one at a time. */
  passwordTriesOfEmailMax: 10,
  /**
   * For an email under attack: interval between strangers' tries, waiting tries per email and per address; such emails.
   */
  slowSignInMs: 2000,
  slowSignInsWaitingMax: 10,
  slowSignInsOfAddressMax: 2,
  slowSignInEmailsMax: 10_000,
  /** How long a browser is remembered after its last sign-in: 400 days, the longest that browsers keep a cookie. */
  browserMarkSeconds: 400 * 86_400,
  /** How long after entering the password it is not needed again to change keys and passwords. */
  freshSignInMs: 900_000,
  /** Second factor: wrong codes from one address, and from all for one account, in a window of this length. */
  codeTriesMax: 5,
  codeTriesOfAccountMax: 20,
  codeTriesMs: 600_000,
  recoveryCodes: 10,
  userCodeCharsMax: 32,
  /** Sign-ins waiting for a code, and for how long. */
  pendingSignInsMax: 10_000,
  pendingSignInMs: 300_000,
  /** Lifetime of a link to reset a password, and the links sent to one email in a window of this length. */
  resetSeconds: 1800,
  resetsMax: 3,
  resetsMs: 3_600_000,

  // Mail.
  lettersWaitingMax: 1000,
  /** Pauses between tries to send a letter. */
  mailPausesMs: [2000, 30_000, 300_000],
  mailTimeoutMs: 10_000,

  // Activity.
  /** Changes of tasks and documents kept for an account, and their characters as JSON; the oldest go first. */
  activityRowsMax: 10_000,
  activityCharsMax: 8 * MiB,
  /** One change may bring the characters above that until the next. */
  activityCharsOverMax: 1 * MiB,
  /** The most changes that one change removes. */
  activityDropMax: 16,
  activityNameCharsMax: 200,

  /** Names compared to find the one that was probably meant. */
  namesGuessedMax: 300,
  /** Moves of a file that are followed to tell where it is. */
  movesFollowedMax: 20,
  pathsGuessedMax: 2000,

  /** Things that one call reads, replacements that one edit makes. */
  readAtOnceMax: 20,
  editsAtOnceMax: 50,

  // Idempotency keys.
  /** How long a repeat is recognised. */
  idempotencyKeyHours: 24,
  idempotencyKeyCharsMax: 255,
  /** Keys of an account with what their requests decided, and the bytes of that; the oldest go first. */
  usedKeysMax: 10_000,
  usedKeyBytesMax: 32 * MiB,
  /** The most keys forgotten in one decision. */
  usedKeysForgotten: 64,

  // Events.
  /** Events of one answer, and changes looked at for it. */
  eventPageDefault: 100,
  eventPageMax: 500,
  eventStepsMax: 2000,
  /** Rows of a log read at a time. */
  eventRowsRead: 32,
  eventCursorCharsMax: 8192,

  // Webhooks.
  /** Webhooks of one account. */
  webhooksMax: 10,
  webhookUrlCharsMax: 2048,
  /** Messages sent at once, over all accounts. */
  webhooksAtOnceMax: 32,
  webhookTimeoutMs: 10_000,
  /** Pauses before an event is sent again; the last one repeats. */
  webhookPausesMs: [5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000],
  /** A webhook that fails for this long is turned off. */
  webhookFailDays: 5,
  /** How long the secret before a rotation signs as well. */
  webhookFormerSecretHours: 24,
  /** Tries that are shown of a webhook. */
  webhookDeliveriesKept: 20,
  /** Unwanted changes of tasks and documents after which the position of a webhook is stored. */
  webhookPassedMax: 500,

  // Security events.
  /** Stored actions and failures of an account, and the days that they are kept. */
  auditActsMax: 1000,
  auditFailuresMax: 200,
  auditDays: 180,
  /** Equal failures from one address within this time of each other are recorded as one event. */
  auditSameFailureMs: 600_000,
  auditShownMax: 100,
  /** Events of the hub's own log, and how long they are kept. */
  hubEventsMax: 10_000,
  hubEventDays: 365,

  // Identity provider.
  /** Timeout and size of one fetch of its metadata or keys. */
  idpFetchMs: 5000,
  idpDocumentBytesMax: 256 * KiB,
  /** Older keys are fetched again. */
  idpKeysFreshMs: 600_000,
  /** How long keys that could not be renewed are still used. */
  idpKeysStaleMs: 3_600_000,
  /** Interval between two tries to fetch keys, whatever tokens arrive. */
  idpKeysCoolDownMs: 30_000,
  /** Allowed difference between its clock and ours. */
  idpClockSkewSeconds: 30,
  idpTokenCharsMax: 8 * KiB,
  idpSubjectCharsMax: 255,
  identitiesMax: 10,

  // Tasks.
  taskContentCharsMax: 10_000,
  /** Length of the content's prefix, case folded, used to sort tasks by content. */
  taskSortCharsMax: 100,
  /** A new task is compared with this many others, created within this many milliseconds before it. */
  taskTwinsMax: 5,
  taskTwinMs: 600_000,
  /** Rows that a list of tasks reads without looking at its turn: a page takes some 0.2 ms. */
  taskRowsAtOnce: 32,
  taskPageDefault: 25,
  taskPageMax: 100,
  taskPageNumberMax: 1_000_000_000,
  taskListDefault: 25,
  taskListMax: 500,
  /** Tasks read by one call of the list tool to match a text or a day. */
  taskScanMax: 20_000,
  /** A range of at most this many tasks is read whole and sorted, instead of walking the requested order. */
  taskGatherMax: 2000,
  taskSearchCharsMax: 200,
  timeZoneCharsMax: 64,
  categoriesMax: 500,
  /** Tasks that one decision removes from a deleted category; each takes about 60 µs. */
  categoryClearTasksMax: 100,
  /** Deleted categories of an account that can be restored; beyond them the oldest are deleted permanently. */
  categoriesBinnedMax: 50,
  categoryNameCharsMax: 100,
  categoryPositionMax: 1_000_000,
  binDays: 30,
  /** Deleted tasks read by one round of emptying the trash. */
  binRowsMax: 500,
  binSweepMs: 3_600_000,

  // Documents: dev docs, handoffs, papers.
  /** Largest text of a document, in UTF-8. */
  documentBytesMax: 1 * MiB,
  documentTitleCharsMax: 200,
  devDocCategoryCharsMax: 50,
  /** Categories named in a refusal. */
  devDocCategoriesTold: 30,
  /** Versions kept of a dev doc or paper. */
  documentVersionsMax: 50,
  devDocPullMax: 2000,
  devDocListDefault: 50,
  devDocListMax: 200,
  devDocSearchCharsMax: 200,
  /** Texts read by one search, and their bytes. The answer then says where to continue. */
  devDocSearchTextsMax: 500,
  devDocSearchBytesMax: 8 * MiB,
  handoffNameCharsMax: 100,
  handoffPreviewCharsMax: 200,
  handoffListDefault: 25,
  /** Projects read for the page with the newest handoff of each. */
  handoffProjectsMax: 500,
  handoffListMax: 200,
  /** Maximum of CAIRN_HANDOFF_DAYS. */
  handoffDaysMax: 36_500,
  /** Largest request body with a paper: JSON may take six bytes for one byte of text. */
  paperBodyBytesMax: 7 * MiB,
  paperPageDefault: 25,
  paperPageMax: 100,
  /** A page with contents ends above this size. */
  paperPageBytes: 4 * MiB,
  /** Handoffs removed by one decision of a purge; each may have many versions. */
  handoffPurgeMax: 50,
  /** Rows read by one round of emptying the documents' trash; each may have many versions. */
  documentBinRowsMax: 50,
  cursorCharsMax: 200,
  /** Characters of an ISO 8601 time from a caller. */
  instantCharsMax: 40,

  // Tools for models.
  /** Bytes of text that one call of read answers; some 8,000 tokens. */
  readPageBytes: 32 * KiB,
  /** Largest picture shown to a model. */
  readPictureBytesMax: 1 * MiB,
  headingCharsMax: 300,
  /** An id: a path with each byte percent-encoded, and what stands before it. */
  thingIdCharsMax: 4096,
  listItemsDefault: 100,
  listItemsMax: 500,
  editTriesMax: 5,
  tasksAtOnceMax: 100,
  removedAtOnceMax: 100,
  /** One fact, and what it is about. */
  factCharsMax: 2000,
  factAboutCharsMax: 60,
  /** Facts that one call of recall answers. */
  factsDefault: 10,
  factsMax: 100,
  /** Files that one call moves, or restores at a time. */
  moveFilesMax: 1000,

  // Vaults and file sync.
  /** Longest path of a file, in UTF-8. */
  pathBytesMax: 1024,
  pathPartBytesMax: 255,
  /** Largest content of one file, decoded. */
  fileBytesMax: 10 * MiB,
  /** Largest file of a vault. Above `fileBytesMax` it is sent and stored as chunks: the bytes of one, and their number. */
  largeFileBytesMax: 2 * 1024 * MiB,
  fileChunkBytesMax: 4 * MiB,
  fileChunksMax: 8192,
  /** Where a client cuts a large file. Other values would send all of them again. */
  fileChunkBytesMin: 256 * KiB,
  fileChunkBytesAverage: 1 * MiB,
  /** Chunks compared with their hash at once, for downloads and repeated uploads. */
  chunkChecksMax: 8,
  /** Rows of chunks that one decision counts or removes: some 30 µs each. */
  chunkRowsPerDecision: 64,
  /** A chunk that no file lists stays for so long after the hub answered last that it has it. */
  looseChunkHours: 24,
  /** Answers within this time after another one write nothing: such a chunk is removed so much later. */
  looseChunkNoteHours: 1,
  /** Time that a push of a list of chunks may take: the hub hashes the whole file. */
  chunkedPushSeconds: 600,
  /**
   * Contents up to this size are hashed and escaped in place, and stored in their version; larger ones in the pool and
   * in pieces.
   */
  inlineContentBytesMax: 64 * KiB,
  /** Long contents are stored in pieces of this size, escaped. */
  pieceBytes: 1 * MiB,
  /** SYN-23: files of one sync_push_many, total bytes of their contents, and how many of them count as one call. */
  pushManyFilesMax: 1000,
  pushManyBytesMax: 8 * MiB,
  pushManyFilesPerCall: 100,
  /** Files of one sync_push_many whose decisions wait for the store at once: other work waits at most this long. */
  pushManyDecisionsMax: 64,
  /** Long contents hashed and staged at once; others wait. */
  longPushesMax: 4,
  /** CAIRN_SYNC_QUOTA_BYTES: bytes of current files and pending conflicts of one account. */
  syncQuotaBytesDefault: 5 * 1024 * MiB,
  /**
   * CAIRN_HISTORY_QUOTA_BYTES: bytes of earlier versions and resolved conflicts, and `recordCountedBytes` for each
   * version.
   */
  historyQuotaBytesDefault: 5 * 1024 * MiB,
  hlcCharsMax: 128,
  isoTimeCharsMax: 64,
  /** A device's last visit is written at most this often. */
  deviceSeenMs: 60_000,
  visitsRemembered: 10_000,
  /** A client's clock further ahead of the hub's is not adopted. */
  hlcAheadMsMax: 300_000,
  deviceIdCharsMax: 128,
  vaultIdCharsMax: 64,
  /** A modification time older than the previous one by more than this gets a warning. */
  mtimeRegressMs: 2000,
  /** Versions of one path searched for a hash by one decision. */
  chainWalkMax: 10_000,
  /** Files searched for the hash of a base that the path never had, and how many in one turn. */
  foreignBaseFilesMax: 10_000,
  foreignBaseTurnFiles: 500,
  /** Every version is kept this long, and the newest of each path permanently. */
  historyDays: 30,
  historyVersionsMin: 20,
  /** Rows read or removed by background work in one turn. */
  sweepTurnRows: 200,
  historyDefault: 50,
  historyMax: 200,
  /** Files read by one call of a restore to a time, and changes made by it. */
  asOfFilesMax: 20_000,
  asOfChangesMax: 200,
  /** Such calls made for one form of a page. */
  asOfCallsPerForm: 25,
  conflictsDefault: 100,
  conflictsMax: 500,
  conflictCursorCharsMax: 2000,
  pendingConflictsPerPathMax: 10,
  /** Bytes of one pack of lines. A socket accepts some hundred KiB at a time, and the rest is read again. */
  packBytesMax: 256 * KiB,
  /** A longer line is not packed but read from its version. */
  packLineBytesMax: 64 * KiB,
  packVersionsMax: 512,
  /** A pack is rewritten when this fraction of its lines (one in …) is dead. */
  packWornShare: 3,
  /** Packs merged at a time. */
  packsJoinedMax: 8,
  packsRemovedMax: 64,
  /** How often changed vaults are checked, and how long a vault must be quiet before packing. */
  packLookMs: 250,
  packRestMs: 500,
  /** Changes after which a vault is packed even if it is not quiet. */
  packBacklogVersions: 8192,
  /** Cached packs of all vaults, without their indexes. */
  packsRemembered: 20_000,
  /** Bytes of a long content hashed at once, which takes some 0.6 ms. */
  hashedStepBytes: 64 * KiB,
  /** Long contents whose checksums are kept after their hash matched, of all vaults; and those being hashed. */
  longContentsRemembered: 20_000,
  /** Versions newer than the last pack that a pull reads one by one; with more, it packs them first. */
  tailVersionsMax: 1024,
  /** Lines of one pull, and paths in its selection. */
  pullLinesMax: 1_000_000,
  /** Damaged files named by a pull that omits them. */
  leftOutNamedMax: 5,
  pullPathsMax: 1000,
  /** Characters of the list of changes that a pull skips. */
  pullSkipCharsMax: 4096,
  /** Bytes of lines in a pull answered as one JSON document. */
  pullDocumentBytesMax: 4 * MiB,
  /** Longest wait for a change (SYN-22), and concurrent waiters. */
  waitSecondsMax: 55,
  waitersMax: 10_000,
  listPageDefault: 1000,
  listPageMax: 10_000,
  /** Files read by one call of a list of files, and in one turn. */
  listScanMax: 20_000,
  listTurnRows: 32,
  /** Rows read for a page of one folder, including skipped rows: deleted files and those of other folders. */
  folderScanMax: 5000,
  /** Rows read to sum up the subfolders of a page, and newest changes searched for those with more files. */
  folderSumRowsMax: 3000,
  folderSumChangesMax: 500,
  listCursorCharsMax: 4096,
  /** Globs that one glob with braces may expand to. */
  globChoicesMax: 32,
  /** Characters compared by one call of a list of files. The answer then says where to continue. */
  globWorkChars: 20_000_000,
  /** Files in the manifest of a device and its bases together. */
  manifestFilesMax: 40_000,
  /** Files, including deleted ones, read by one comparison with a manifest, and older versions of all of them. */
  standingScanMax: 250_000,
  standingLinksMax: 20_000,
  /** Paths to pull, push, delete or resolve in one answer, of each kind. */
  standingPathsMax: 5000,
  devicesMax: 1000,
  vaultsMax: 100,
  primariesRemembered: 10_000,
  globsRemembered: 10_000,
  vaultNameCharsMax: 100,
  protectedGlobsMax: 100,
  globCharsMax: 200,

  // Actors.
  /** Writes waiting in one mailbox, and in all of them. */
  mailboxDepthMax: 1024,
  waitingWritesMax: 8192,
  actorIdleMs: 60_000,

  // Diff and merge.
  /** Texts with more bytes or lines are not compared by lines. */
  mergeBytesMax: 1 * MiB,
  mergeLinesMax: 20_000,
  diffContextLinesMax: 1000,
  /** Above either limit, over all texts of one merge, the merge runs in the pool. */
  mergeInlineBytesMax: 64 * KiB,
  mergeInlineLinesMax: 2000,

  // Pool.
  poolJobsPerThread: 256,
  /** Jobs per thread reserved for work other than streams. */
  poolJobsKept: 16,
  /** `nice` value of the threads of the pool, of the search and of exports relative to the main thread. */
  poolNice: 5,
  poolQueueMax: 1024,
  /** A body or content above this is a long job: more than some 5 ms of a thread. */
  poolShortBytesMax: 256 * KiB,
  /** Heap of one worker thread: a runaway job ends its thread, not the process. */
  workerHeapMebibytes: 512,
  /** Spare buffers kept for later uploads, and the interval after which unused ones are freed. */
  spareBuffersMax: 512,
  spareTrimMs: 10_000,

  // Store.
  /** Address space reserved for the memory map; the file grows inside it. */
  mapBytes: 1024 * 1024 * MiB,
  /** Minimum of CAIRN_MAP_BYTES, and the part of a limited address space left free of the map. */
  mapBytesMin: 64 * MiB,
  addressSpaceReserveBytes: 1024 * MiB,
  tablesMax: 128,
  /** Slots for read transactions in LMDB's lock file, and the slots that long reads may use at once. */
  readersMax: 1024,
  /** Revision counters for the rows of an owner (an account, a vault); two owners may share one. */
  revisionsOwned: 32_768,
  longReadsMax: 512,
  /** Bytes hashed in one turn of the event loop while they are read. */
  hashedTurnBytes: 256 * KiB,
  /** Bytes of a stored blob offered to a socket at once. */
  sentTurnBytes: 512 * KiB,
  /** How long a blob hashed for a partial read counts as intact, and how many are remembered. */
  wholeBlobMs: 60_000,
  wholeBlobsMax: 1000,
  /** Chunks of blobs whose checksum is cached. */
  blobSumsMax: 20_000,
  /** How long a verified chunk serves other downloads of the same blob, and how many are kept. */
  sharedChunkMs: 100,
  sharedChunksMax: 16,
  sharedSweepMs: 1000,
  /** A blob up to this size is sent whole, not as a stream, and cached; the second number bounds the whole cache. */
  smallBlobBytesMax: 64 * KiB,
  blobBytesRememberedMax: 16 * MiB,
  /** Cached rows that name a blob, of each kind. */
  blobRowsRememberedMax: 10_000,
  /** Rows that one step of mending times reads. */
  mendRowsMax: 200,
  /** A clock ahead of its expected time by more than this has jumped. The new time is accepted after this long. */
  clockJumpMs: 24 * 60 * 60 * 1000,
  /** How often the time is stored; the next start compares its clock with it. */
  clockNotedMs: 10 * 60 * 1000,
  /** How often the conditions of the hub are measured, and how long one must be gone before it counts as over. */
  conditionsLookedMs: 5000,
  conditionQuietMs: 60_000,
  /** Notices that wait for CAIRN_NOTIFY_URL, the pauses between attempts, and the timeout of one. */
  noticesWaitingMax: 100,
  noticePausesMs: [2000, 15_000, 60_000, 300_000, 900_000],
  noticeTimeoutMs: 10_000,
  /** Free shares of the disk below which the operator is told, before `diskReservedShare`; and what ends that again. */
  diskWarnedShare: 0.2,
  diskScarceShare: 0.1,
  diskSteadyShare: 0.02,
  /** A commit in progress for longer than this hangs. */
  commitWaitMsMax: 30_000,
  /** `/ready` writes a row when no commit has succeeded for this long, and waits this long for it. */
  probeAfterMs: 60_000,
  probeMsMax: 5000,
  /** How long figures of `/ready` are used again. */
  readyRememberedMs: 1000,
  /** CAIRN_BACKUP_HOURS: the newest backup may be this old. */
  backupHoursDefault: 48,
  /** `cairn follow` may be silent for this long, and while it makes a whole copy for this long. */
  followLateMsMin: 60_000,
  followWholeHoursMax: 6,
  /** The newest verification may be this old. */
  verifyDaysMax: 35,
  /** A certificate that expires earlier than this must be renewed. */
  certificateDaysMin: 14,
  /** Damaged contents of a kind set aside by one control request. */
  setAsideAtOnceMax: 100,
  /** Damaged rows named by a manifest. */
  damagedListedMax: 10_000,
  /** An unfinished copy without a write for this long counts as interrupted: less than the time between two nights. */
  copyQuietMsMax: 12 * 3_600_000,
  /** Size of the journal above which a following copy restarts, unless its data file is larger. */
  followJournalBytesMin: 256 * MiB,
  /** How often a following copy checks for changes, and how long it keeps superseded backups. */
  followSecondsDefault: 5,
  followKeepDaysDefault: 7,
  /** Bytes and rows per commit when copying to a compacted file. */
  compactPieceBytes: 32 * MiB,
  compactPieceRows: 50_000,
  /** How often the progress of a migration of the data file is logged. */
  migrationToldMs: 5000,
  /** Longest encoded key that fits LMDB's 4 KiB pages. */
  keyBytesMax: 1900,
  /** Maximum number of decisions in one durable commit. */
  groupDecisionsMax: 1024,
  /** How long the decisions of one commit may block the event loop. */
  groupMsMax: 4,
  /** How long the callers of finished commits may go on before the event loop does other work. */
  answeredMsMax: 8,
  /** How many of them go on together between two looks at the clock. */
  answeredAtOnce: 4,
  /** A group of decisions for a replicated log takes no further one above this. */
  logGroupBytesMax: 4 * MiB,
  /** Bytes of rows from which a member that reads the log makes one commit. */
  logAppliedBytes: 16 * MiB,
  /** How long a member waits before it asks the log again: at first, and at most. */
  logRetryMs: 50,
  logRetryMsMax: 1000,
  /** Signs of life that members leave in the log: leases between two, at most this pause, and how many an absent one has missed. */
  memberSignLeases: 6,
  memberSignMsMax: 60_000,
  memberSignsMissed: 3,
  /** How long a command waits for what the log says of the members. */
  memberAskMs: 3000,
  /** How often a follower reads the log: at most, and at least. */
  logPollMsMin: 50,
  logPollMsMax: 500,
  /** Of commits that are answered before the log has them: above this many bytes writes wait for the log. */
  unloggedBytesMax: 64 * MiB,
  /** The pause before each record of such commits, in which they gather. */
  unloggedPauseMs: 200,
  /** An operator is told when such a commit has waited for the log for longer. */
  unloggedMsMax: 5000,
  /** Values of at least this size are kept beside a replicated log, not in its records. */
  logPartBytesMin: 256 * KiB,
  /** Of commits that are answered before the log has them: so many such values are on their way to it at a time. */
  logPartsAtOnce: 8,
  /** The owner of a log looks this often whether a snapshot is due, and removes old records. */
  logKeepMs: 10 * 60_000,
  /** How often an owner joins old records, in ms: each time makes a segment. */
  logTrimMs: 3_600_000,
  /** A snapshot is due after this time, if anything was written; and after so many records. */
  logSnapshotMs: 24 * 3_600_000,
  logSnapshotRecords: 200_000,
  /** Reserved disk space. With less free, nothing is written, and a failed write counts as a full disk. */
  diskFreeBytesMin: 16 * MiB,
  /** With so much free, a look at the disk counts for some milliseconds: no disk takes a quarter of it in that time. */
  diskPlentyBytes: 2048 * MiB,
  diskLookMs: 50,
  /** When a write that the disk did not take may be tried again: a person has to free space first. */
  storageRetrySeconds: 60,
  /** Rows per commit of a large removal. */
  rowsRemovedMax: 1000,

  // Archives of an account.
  archiveManifestBytesMax: 64 * KiB,
  /** Longest line: the longest text of a document, at up to six bytes of JSON per byte, and its surrounding fields. */
  archiveLineBytesMax: 8 * MiB,
  /** Records of an import waiting for one commit, and their bytes: other writes wait as long. */
  archiveWritesMax: 64,
  archiveWriteBytesMax: 8 * MiB,
  /** How far times in an archive may be ahead of this hub's clock. */
  archiveAheadMsMax: 600_000,
  archiveNumberMax: 1_000_000_000_000,
  /** How often an import reports its progress. */
  archiveProgressMs: 500,

  // Progress of calls.
  /** A call that counts no steps tells this often that it still runs. */
  progressBeatMs: 1000,
  /** Pause between two notes of counted steps. */
  progressPauseMs: 200,
  /** Calls of fewer steps are not worth a note: their answer stays one reply. */
  progressStepsMin: 10,
  // Listening clients.
  /** How often a quiet event stream gets a comment: the HTTP library closes a connection silent for ten seconds. */
  eventBeatMs: 4000,
  /** Bytes of events waiting for a slow reader. Above this, its stream ends. */
  eventBytesWaitingMax: 256 * KiB,
  /** How long a notified client is left alone: further changes in that time are notified together. */
  listenersRestMs: 500,
  /** Concurrent listening clients, of all accounts and of one. */
  listenersMax: 2000,
  listenersPerAccountMax: 32,
  /** Duration of an event stream. The client then opens a new one. */
  listenSecondsMax: 3600,
  /** Resources watched by one client. */
  subscriptionsMax: 100,
  /** Sessions of one account whose subscriptions are remembered. */
  subscribingSessionsMax: 32,

  // Questions to the person at a client.
  /** How long a question waits for its answer. */
  questionSecondsMax: 300,
  /** Concurrent waiting questions, in calls of all accounts. */
  questionsMax: 1000,

  // Command line client.
  /** Default timeout for a whole answer of a hub. */
  clientSecondsDefault: 60,
  /** Idle timeout of a tool call, without a byte in either direction; longer than a long poll for changes. */
  clientIdleSeconds: 120,
  /** The slowest upload or download that a user may configure: a hub closes slower ones (NET-7). */
  clientPaceMin: 32 * KiB,
  /** Concurrent requests of one MCP client through `cairn mcp`. */
  bridgeRequestsMax: 16,
  /** Default limits of a restored backup: bytes and files. */
  restoredBytesMax: 16 * 1024 * MiB,
  restoredFilesMax: 2_000_000,
  /** Content of one upload of a backup; gzip and age add less than the rest of an upload. */
  backupPartBytes: 48 * MiB,
  /** Increments after a full backup, and the bytes that they may have in any case. Beyond, the next one is full. */
  backupIncrementsMax: 100,
  backupIncrementBytesMin: 1 * MiB,
  /** Largest manifest of a backup, and archives looked at for the newest complete one. */
  backupManifestBytesMax: 64 * MiB,
  backupCandidatesMax: 20,
  /** Attempts of a request of a backup; the first wait before another one, which doubles, and the longest. */
  backupAttempts: 6,
  backupRetryMs: 1000,
  backupRetryMsMax: 120_000,
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
  /** A large file is read once it was not written for this time: some disks store times in steps of two seconds. */
  clientLargeStillMs: 2000,
  /** Bytes of a large file that are hashed in one turn, and its chunks that are sent, or asked for, at once. */
  clientHashBytes: 1 * MiB,
  clientChunksAtOnce: 4,
  /** Bytes of a disk that the download of a large file leaves free, so that small files and the state have room. */
  clientFreeBytesMin: 16 * MiB,
  /**
   * A file unchanged for so long during a sync is copied as a save; the total size of such copies, of it of the larger ones, and up
   * to which size a copy is none of them: saves of a large file leave room for those of a note.
   */
  clientStillMs: 700,
  /** A loop that does not answer the thread that keeps saves for so long is busy. */
  clientBusyMs: 200,
  clientSavesBytesMax: 64 * MiB,
  clientSavesLargeBytesMax: 48 * MiB,
  clientSavesSmallBytes: 1 * MiB,
  /** A file of at least this size that a program keeps writing to is sent less often; and how long it must stand still. */
  clientRestlessBytes: 256 * KiB,
  clientRestMs: 1500,
  /** How long a sync works before it saves its state. */
  clientSaveMs: 5000,
  /** Bytes of changes beyond twice the state after which the whole state is written. */
  clientRecordsBytes: 1 * MiB,
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
  /** Reports at once after which some may be missing: Linux queues 16,384 for a process (inotify(7)). */
  clientNoticedMax: 4000,
  /** The window in which a folder counts deleted and rewritten files, and how many it takes at least to hold more of them. */
  clientGuardMs: 900_000,
  clientGuardFilesMin: 30,
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
  /** Conflict copies of one file that a folder keeps beside it. */
  clientCopiesMax: 10,
  /** Default number of blobs in a list. */
  clientListDefault: 20,
  /** Largest accepted answer. */
  clientAnswerBytesMax: 64 * MiB,
  /** A tab in a shell waits for the hub no longer than this, and asks the same again after that time only. */
  completionMs: 1500,
  completionKeptMs: 10_000,
  /** Rows, and paths below a folder, that a tab looks at. */
  completionRowsMax: 100,
  completionFilesMax: 10_000,
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

  // Control socket.
  controlRequestBytesMax: 64 * KiB,
  /** More than the longest list: every client of the operator. */
  controlAnswerBytesMax: 16 * MiB,
  controlSeconds: 30,
} as const;
