/** Defines every limit of the service. Each has one name, ending with its unit, and is defined only here. */

import { agentLimits } from './agents.ts';
import { clientLimits } from './client.ts';
import { httpLimits } from './http.ts';
import { signInLimits } from './sign-in.ts';
import { syncLimits } from './sync.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  ...httpLimits,

  // Gateway.
  /** Largest body of the gateway and the tool mirror. */
  gatewayBodyBytesMax: 16 * MiB,
  /** Larger JSON bodies are parsed in the pool. */
  parseInlineBytesMax: 256 * KiB,
  batchItemsMax: 100,
  /** Bytes of text in a result. A longer one is cut, with a sentence on how to get the rest. */
  toolTextBytesMax: 64 * KiB,
  /** Resources per page, completions of an argument, and characters of a URI in an error. */
  resourcesPage: 100,
  completionsMax: 100,
  resourceUriShownMax: 200,
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
  /** Body bytes in memory at once (CAIRN_INFLIGHT_BYTES). One caller's share of the minimum fits the largest upload. */
  inflightBytesDefault: 256 * MiB,
  inflightBytesMin: 80 * MiB,
  /** Staged bytes of all uploads, passed to the store and not yet on disk. */
  stagingBytesMax: 8 * MiB,
  /** Chunks of one upload that the pool has at once. */
  chunksHashedAhead: 3,
  /** Bytes of streamed uploads between socket and disk, above which their senders wait. */
  uploadBytesUnderWay: 16 * MiB,
  /** Delay before retrying to remove discarded bytes (after a full disk). */
  discardRetryMs: 15_000,
  uploadedByCharsMax: 255,
  blobPageDefault: 1000,
  blobPageMax: 1000,

  // Accounts.
  accountKeysLiveMax: 50,
  passwordBytesMin: 8,
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
  /** Cached credentials of each kind, with their sessions. */
  credentialsRememberedMax: 10_000,
  /** Lifetime of an access token. */
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
  /** How long a measurement of the free space is reused. */
  diskLookedMs: 100,
  /** Accounts per page of the operator's list. */
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
  /** Characters of the name of who changed a task or document. */
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
  draftCharsTotalMax: 16 * MiB,
  /** The most tasks of a column on one page, and the first tasks of each column on the whole board. */
  boardColumnRows: 50,
  boardFirstRows: 15,
  /** Home page: rows of recent activity, vaults read for them, and due tasks. */
  activityRows: 12,
  activityVaults: 5,
  dueRows: 10,
  /** An operator is warned when the last backup is older than this. */
  backupAgeMs: 3 * 24 * 3_600_000,
  /** Tasks of a column with a manual order, done tasks shown expanded, and listed deleted tasks. */
  boardPlacedMax: 500,
  boardDoneOpen: 3,
  trashRowsShown: 200,
  /** Documents of a kind searched by the trash page. */
  binScanMax: 5000,
  /** Blobs per page of the mirror. */
  blobRowsPerPage: 50,
  /** Rows per page: documents, files, versions, conflicts. */
  documentRowsPerPage: 50,
  fileRowsPerPage: 100,
  versionRowsPerPage: 50,
  conflictRowsPerPage: 50,
  /** Characters of a file's text shown on a page, and the largest file whose content is read. */
  shownTextCharsMax: 256 * KiB,
  shownFileBytesMax: 1 * MiB,
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
  /** Limits of one search over everything: file names, texts, bytes of each text and of all, and its results. */
  searchNamesMax: 20_000,
  searchTextsMax: 1000,
  searchTextBytesMax: 64 * KiB,
  searchBytesMax: 4 * MiB,
  searchRows: 30,
  searchDocumentsMax: 500,
  searchLineChars: 160,
  /** Bytes of files held in memory for page downloads of all readers. */
  pageDownloadBytesMax: 64 * MiB,
  /** Longest download of a folder. */
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

  ...signInLimits,

  // Tasks.
  taskContentCharsMax: 10_000,
  /** Length of the content's prefix, case folded, used to sort tasks by content. */
  taskSortCharsMax: 100,
  /** A new task is compared with this many others, created within this many milliseconds before it. */
  taskTwinsMax: 5,
  taskTwinMs: 600_000,
  taskPageDefault: 25,
  taskPageMax: 100,
  taskPageNumberMax: 1_000_000_000,
  /** Tasks in one answer of the list tool. */
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
  /** Stored versions of a dev doc. */
  devDocVersionsMax: 50,
  /** Documents in one answer of a pull. */
  devDocPullMax: 2000,
  devDocListDefault: 50,
  devDocListMax: 200,
  devDocSearchCharsMax: 200,
  /** A longer text is not indexed, and every search reads it. */
  devDocGramsCharsMax: 64 * KiB,
  /** Pieces of the searched text looked up in the index. */
  devDocGramsWanted: 6,
  /** Texts read by one search, and their bytes. The answer then says where to continue. */
  devDocSearchTextsMax: 500,
  devDocSearchBytesMax: 8 * MiB,
  /** Characters of the project and topic of a handoff. */
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

  ...syncLimits,

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
  /** `nice` value of the pool's threads relative to the main thread. */
  poolNice: 5,
  poolQueueMax: 1024,
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
  /** How long a blob hashed for a partial read counts as intact, and how many are remembered. */
  wholeBlobMs: 60_000,
  wholeBlobsMax: 1000,
  /** Blobs whose checksum is cached, about 100 bytes each. */
  blobSumsMax: 20_000,
  /** A blob up to this size is sent whole, not as a stream, and cached; the second number bounds the whole cache. */
  smallBlobBytesMax: 64 * KiB,
  blobBytesRememberedMax: 16 * MiB,
  /** Cached rows that name a blob, of each kind. */
  blobRowsRememberedMax: 10_000,
  /** A clock ahead of its expected time by more than this has jumped. The new time is accepted after this long. */
  clockJumpMs: 24 * 60 * 60 * 1000,
  /** How often the time is stored; the next start compares its clock with it. */
  clockNotedMs: 10 * 60 * 1000,
  /** Damaged contents of a kind set aside by one control request. */
  setAsideAtOnceMax: 100,
  /** Damaged rows named by a manifest. */
  damagedListedMax: 10_000,
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
  /** Reserved disk space. With less free, nothing is written, and a failed write counts as a full disk. */
  diskFreeBytesMin: 16 * MiB,

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
  /** Largest number in an archive. */
  archiveNumberMax: 1_000_000_000_000,
  /** How often an import reports its progress. */
  archiveProgressMs: 500,

  ...agentLimits,

  ...clientLimits,

  // Control socket.
  controlRequestBytesMax: 64 * KiB,
  /** More than the longest list: every client of the operator. */
  controlAnswerBytesMax: 16 * MiB,
  controlSeconds: 30,
} as const;
