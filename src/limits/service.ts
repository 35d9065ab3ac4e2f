/** Owns every number that bounds the service. A limit has one name, its unit last, and stands here only. */

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
  /** Largest body on the gateway and the tool mirror. */
  gatewayBodyBytesMax: 16 * MiB,
  /** A JSON body above this is parsed in the pool. */
  parseInlineBytesMax: 256 * KiB,
  batchItemsMax: 100,
  /** Bytes of the text of a result; then a sentence says how to get the rest. */
  toolTextBytesMax: 64 * KiB,
  /** Resources of one page, values that complete an argument, and characters of a URI in an error. */
  resourcesPage: 100,
  completionsMax: 100,
  resourceUriShownMax: 200,
  /** Results of tools, and pages of lists, that are remembered while nothing changes, over all callers; larger ones are not. */
  /** Tasks that lists show again, in characters of their JSON; rows of their orders and counters; rows of one end of an order. */
  taskCharsRememberedMax: 8 * MiB,
  taskRowsRememberedMax: 50_000,
  taskEndRowsMax: 256,
  resultsRememberedBytesMax: 32 * MiB,
  pagesRememberedBytesMax: 16 * MiB,
  answerRememberedBytesMax: 256 * KiB,
  /** Questions that are known to have been asked once; the answer is remembered with the second time. */
  answersAskedMax: 10_000,
  /** The longest arguments, as JSON, and the longest query that an answer is remembered by. */
  questionCharsMax: 1024,
  /** A listing above this goes out as lines unasked, to a client that takes them. */
  linesUnaskedBytes: 1 * MiB,

  // Certificate mirror.
  /** Largest upload body (interface specification, section 8). */
  uploadBytesMax: 50 * MiB,
  /** A blob is stored as pieces of this size; one large value would hold the store's only writer. */
  chunkBytes: 1 * MiB,
  /** Up to here a body is hashed as it arrives, and its bytes go to the store together with its rows. */
  wholeUploadBytesMax: 64 * KiB,
  /** Body bytes in memory at once (CAIRN_INFLIGHT_BYTES). One caller's part of the least holds the largest upload. */
  inflightBytesDefault: 256 * MiB,
  inflightBytesMin: 80 * MiB,
  /** Staged bytes handed to the store and not yet on disk, over all uploads. */
  stagingBytesMax: 8 * MiB,
  /** How long discarded bytes that could not be removed (a full disk) wait for the next try. */
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
  /** CAIRN_SIGNUPS_PER_DAY: new accounts a UTC day without an invitation, over all callers. */
  signUpsPerDayDefault: 100,
  /** Invitations that are open at once, accounts that one admits, and for how long it can be used. */
  invitesMax: 1000,
  inviteUsesMax: 1000,
  inviteDaysDefault: 7,
  inviteDaysMax: 365,
  inviteCodeCharsMax: 64,
  /** Credentials of a kind that are remembered with what they open. */
  credentialsRememberedMax: 10_000,
  /** How long an access token opens. */
  accessTokenSeconds: 3600,
  /** A key's last use is written at most this often. */
  lastUsedMs: 60_000,

  // What an account may hold.
  /** CAIRN_MIRROR_QUOTA_BYTES, CAIRN_DOCUMENT_QUOTA_BYTES: content bytes of one account. */
  mirrorQuotaBytesDefault: 50 * 1024 * MiB,
  documentQuotaBytesDefault: 1024 * MiB,
  quotaBytesMax: 2 ** 50,
  /** What each kept text counts for beside its bytes: the rows that find it. */
  recordCountedBytes: 1 * KiB,
  /** The part of the disk, or of the memory map, that is kept for accounts that the operator marks. */
  diskReservedShare: 0.05,
  /** How old a look at the free space may be. */
  diskLookedMs: 100,
  /** Accounts of one page of the operator's list. */
  accountsPage: 50,

  // Browser sessions and pages.
  /** A session ends this long after its last use. */
  browserSessionIdleSeconds: 7 * 24 * 3600,
  /** A session ends this long after sign-in, used or not. */
  browserSessionSeconds: 30 * 24 * 3600,
  /** Signed-in browsers of one account; one more ends the one that was seen longest ago. */
  browserSessionsMax: 20,
  /** What of a browser's name is kept, to tell sessions apart. */
  agentCharsMax: 200,
  /** Largest body of a form; the longest task, percent-encoded, fits. */
  formBodyBytesMax: 128 * KiB,
  /** How long what is shown once waits for the page that shows it, and how many such wait at once. */
  noticeSeconds: 120,
  noticesMax: 10_000,
  /** Text sent after its session had ended: how long it is kept, the longest (a whole form), of one account, and of all in memory. */
  draftSeconds: 3600,
  draftCharsMax: 4 * MiB,
  draftsPerAccountMax: 5,
  draftCharsTotalMax: 16 * MiB,
  /** Tasks that a column of the board shows, and blobs that a page of the mirror shows. */
  boardColumnRows: 50,
  /** Tasks of a column whose order is set by hand, done tasks that are not folded away, deleted tasks that are listed. */
  activityRows: 12,
  activityVaults: 5,
  dueRows: 10,
  /** An operator is warned when the last backup is older than this. */
  backupAgeMs: 3 * 24 * 3_600_000,
  boardPlacedMax: 500,
  boardDoneOpen: 3,
  trashRowsShown: 200,
  /** Documents of a kind that the page of deleted ones looks through. */
  binScanMax: 5000,
  blobRowsPerPage: 50,
  /** Rows of a page: documents, files, versions, conflicts. */
  documentRowsPerPage: 50,
  fileRowsPerPage: 100,
  versionRowsPerPage: 50,
  conflictRowsPerPage: 50,
  /** What of a file's text a page shows, the largest file that it looks into, and lines of a comparison. */
  shownTextCharsMax: 256 * KiB,
  shownFileBytesMax: 1 * MiB,
  /** Code above this is shown without colours, and rendering that takes longer is given up for plain text. */
  highlightCharsMax: 128 * KiB,
  renderMsMax: 1000,
  diffRowsMax: 3000,
  diffContextLines: 3,
  /** Longest text that is compared and edited in a page, and the form that brings it back percent-encoded. */
  editedTextBytesMax: 512 * KiB,
  editFormBytesMax: 4 * MiB,
  /** Files of one form, and the form as a whole; it is in memory while it is read. */
  uploadFilesMax: 200,
  uploadFormBytesMax: 40 * MiB,
  searchCharsMax: 200,
  /** What one search over everything looks at: names of files, texts of at most so many bytes, all their bytes; and what it shows. */
  searchNamesMax: 20_000,
  searchTextsMax: 1000,
  searchTextBytesMax: 64 * KiB,
  searchBytesMax: 4 * MiB,
  searchRows: 30,
  searchDocumentsMax: 500,
  searchLineChars: 160,
  /** Bytes of files that pages hold in memory for all readers who download them. */
  pageDownloadBytesMax: 64 * MiB,
  /** Longest that the download of a folder may take. */
  folderDownloadSeconds: 3600,
  /** Longest own path that a sign-in leads back to; an authorization request fits. */
  nextPathCharsMax: 8 * KiB,

  /** Open pages of one account that are told of changes, each by a stream (CAIRN_STREAMS bounds those of all accounts). */
  livePagesPerAccountMax: 100,
  /** How long changes are gathered before a page is told, and how often a page is told that the stream is there. */
  liveGatherMs: 250,
  liveBeatMs: 20_000,
  /** How long a stream lasts, and when a browser opens the next one: at the least, and up to so much later. */
  liveSeconds: 3600,
  liveRetryMs: 1000,
  liveRetrySpreadMs: 4000,
  /** Accounts of which the time of the last change is remembered; a page of another one looks once more than it has to. */
  liveAccountsRemembered: 10_000,

  ...signInLimits,

  // Tasks.
  taskContentCharsMax: 10_000,
  /** How much of the content, case folded, its place in the order of contents is read from. */
  taskSortCharsMax: 100,
  taskPageDefault: 25,
  taskPageMax: 100,
  taskPageNumberMax: 1_000_000_000,
  /** Tasks in one answer of the list tool. */
  taskListDefault: 25,
  taskListMax: 500,
  /** Tasks that one call of the list tool reads to test a text or a day against them. */
  taskScanMax: 20_000,
  /** A range of at most this many tasks is read whole and sorted, instead of walking the order that was asked for. */
  taskGatherMax: 2000,
  taskSearchCharsMax: 200,
  timeZoneCharsMax: 64,
  categoriesMax: 500,
  /** Tasks that one decision takes out of a deleted category; each costs some 60 µs. */
  categoryClearTasksMax: 100,
  categoryNameCharsMax: 100,
  categoryPositionMax: 1_000_000,
  binDays: 30,
  /** Binned tasks that one round of emptying takes. */
  binRowsMax: 500,
  binSweepMs: 3_600_000,

  // Documents: dev docs, handoffs, papers.
  /** Largest text of a document, in UTF-8. */
  documentBytesMax: 1 * MiB,
  documentTitleCharsMax: 200,
  devDocCategoryCharsMax: 50,
  /** Categories that a refusal names. */
  devDocCategoriesTold: 30,
  /** Versions of a dev doc that are kept. */
  devDocVersionsMax: 50,
  /** Documents in one answer of a pull. */
  devDocPullMax: 2000,
  devDocListDefault: 50,
  devDocListMax: 200,
  devDocSearchCharsMax: 200,
  /** A text above this is in no index and is read by each search. */
  devDocGramsCharsMax: 64 * KiB,
  /** Pieces of a wanted text that a search looks up. */
  devDocGramsWanted: 6,
  /** Texts that one search reads, and their bytes; then it says where to go on. */
  devDocSearchTextsMax: 500,
  devDocSearchBytesMax: 8 * MiB,
  /** Project and topic of a handoff. */
  handoffNameCharsMax: 100,
  handoffPreviewCharsMax: 200,
  handoffListDefault: 25,
  /** Projects read for the page with the newest handoff of each. */
  handoffProjectsMax: 500,
  handoffListMax: 200,
  /** CAIRN_HANDOFF_DAYS: the longest that may be set. */
  handoffDaysMax: 36_500,
  /** Largest body that writes a paper: JSON may take six bytes for one of the text. */
  paperBodyBytesMax: 7 * MiB,
  paperPageDefault: 25,
  paperPageMax: 100,
  /** A page with contents ends when it has more than this. */
  paperPageBytes: 4 * MiB,
  /** Handoffs that one decision of a purge removes; each may have many versions. */
  handoffPurgeMax: 50,
  /** Rows that one round of emptying the bin of documents takes; each may stand for many versions. */
  documentBinRowsMax: 50,
  cursorCharsMax: 200,
  /** An ISO 8601 time as a caller writes it. */
  instantCharsMax: 40,

  ...syncLimits,

  // Actors.
  /** Writes that wait in one mailbox, and in all of them. */
  mailboxDepthMax: 1024,
  waitingWritesMax: 8192,
  actorIdleMs: 60_000,

  // Diff and merge.
  /** Larger texts, or such with more lines, are not compared by lines. */
  mergeBytesMax: 1 * MiB,
  mergeLinesMax: 20_000,
  diffContextLinesMax: 1000,
  /** Above either, over all texts of one merge, it runs in the pool. */
  mergeInlineBytesMax: 64 * KiB,
  mergeInlineLinesMax: 2000,

  // Pool.
  poolJobsPerThread: 256,
  /** Of those, jobs of a thread that streams leave to others. */
  poolJobsKept: 16,
  /** How much lower than the main thread's the priority of the pool's threads is, as `nice` counts it. */
  poolNice: 5,
  poolQueueMax: 1024,
  /** Heap of one worker thread: a job that runs away ends its thread, and not the process. */
  workerHeapMebibytes: 512,
  /** Freed buffers of a size that are kept for the next upload, and how long those that nobody needs. */
  spareBuffersMax: 512,
  spareTrimMs: 10_000,

  // Store.
  /** Address space reserved for the memory map; the file grows inside it. */
  mapBytes: 1024 * 1024 * MiB,
  /** CAIRN_MAP_BYTES may not be below this, and what stays free of a limited address space beside the map. */
  mapBytesMin: 64 * MiB,
  addressSpaceReserveBytes: 1024 * MiB,
  tablesMax: 128,
  /** Places for read transactions in LMDB's lock file, and those of them that long reads may take at once. */
  readersMax: 1024,
  /** Numbers that tell whether rows of an owner (an account, a vault) have changed; two owners may share one. */
  revisionsOwned: 32_768,
  longReadsMax: 512,
  /** Bytes that one turn of the event loop hashes while they are read. */
  hashedTurnBytes: 256 * KiB,
  /** How long a blob that was hashed for a part of it counts as whole, and how many are remembered. */
  wholeBlobMs: 60_000,
  wholeBlobsMax: 1000,
  /** Blobs whose checksum is remembered, some 100 bytes each. */
  blobSumsMax: 20_000,
  /** A clock further than this beyond what it should show has jumped; after so long at the new time it is believed. */
  clockJumpMs: 24 * 60 * 60 * 1000,
  /** How often the time is written down that a later start compares its clock with. */
  clockNotedMs: 10 * 60 * 1000,
  /** Damaged contents of a kind that one control request sets aside. */
  setAsideAtOnceMax: 100,
  /** Damaged rows that a manifest names. */
  damagedListedMax: 10_000,
  /** Bytes of blocks above which a copy that follows begins anew, if its data file is not larger. */
  followJournalBytesMin: 256 * MiB,
  /** How often a copy that follows looks for what is new, and how long it keeps backups that newer ones have replaced. */
  followSecondsDefault: 5,
  followKeepDaysDefault: 7,
  /** Bytes and rows that one commit of a copy to a compacted file takes. */
  compactPieceBytes: 32 * MiB,
  compactPieceRows: 50_000,
  /** How often a migration of the data file is told of in the log. */
  migrationToldMs: 5000,
  /** Longest encoded key that LMDB's 4 KiB pages take. */
  keyBytesMax: 1900,
  /** Decisions that share one durable commit at the most. */
  groupDecisionsMax: 1024,
  /** How long decisions of one commit may hold the event loop. */
  groupMsMax: 4,
  /** What is left free of the disk: with less, nothing is put any more, and a write that failed counts as a full disk. */
  diskFreeBytesMin: 16 * MiB,

  /** Rows that one commit of a large removal takes. */
  rowsRemovedMax: 1000,

  // Archives of an account.
  archiveManifestBytesMax: 64 * KiB,
  /** Longest line: the longest text of a document, of which JSON may make six bytes for one, and what stands around it. */
  archiveLineBytesMax: 8 * MiB,
  /** Records of an import that wait for their commit at once, and their bytes: other writes wait as long. */
  archiveWritesMax: 64,
  archiveWriteBytesMax: 8 * MiB,
  /** How far times in an archive may lie ahead of this hub's. */
  archiveAheadMsMax: 600_000,
  /** Largest number in an archive. */
  archiveNumberMax: 1_000_000_000_000,
  /** How often an import says how far it is. */
  archiveProgressMs: 500,

  ...agentLimits,

  ...clientLimits,

  // Control socket.
  controlRequestBytesMax: 64 * KiB,
  controlSeconds: 30,
} as const;
