/** Limits of vaults and file sync; part of `limits`. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const syncLimits = {
  /** Longest path of a file, in UTF-8. */
  pathBytesMax: 1024,
  pathPartBytesMax: 255,
  /** Largest content of one file, decoded. */
  fileBytesMax: 10 * MiB,
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
  /** Versions in one pack. */
  packVersionsMax: 512,
  /** A pack is rewritten when this fraction of its lines (one in …) is dead. */
  packWornShare: 3,
  /** Packs merged at a time. */
  packsJoinedMax: 8,
  /** Packs removed by one decision. */
  packsRemovedMax: 64,
  /** How often changed vaults are checked, and how long a vault must be quiet before packing. */
  packLookMs: 250,
  packRestMs: 500,
  /** Changes after which a vault is packed even if it is not quiet. */
  packBacklogVersions: 8192,
  /** Cached packs of all vaults, without their indexes. */
  packsRemembered: 20_000,
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
  /** Devices remembered by a vault. */
  devicesMax: 1000,
  vaultsMax: 100,
  primariesRemembered: 10_000,
  /** Cached parsed globs of all vaults. */
  globsRemembered: 10_000,
  vaultNameCharsMax: 100,
  protectedGlobsMax: 100,
  globCharsMax: 200,
} as const;
