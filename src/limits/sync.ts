/** The bounds of vaults and file sync; `limits` shows them among all others. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const syncLimits = {
  /** Longest path of a file, in UTF-8. */
  pathBytesMax: 1024,
  pathPartBytesMax: 255,
  /** Largest content of one file, decoded. */
  fileBytesMax: 10 * MiB,
  /** Up to here a content is hashed and escaped where it is, and stands in its version; above, in the pool and in pieces. */
  inlineContentBytesMax: 64 * KiB,
  /** Long contents are stored in pieces of this size, as escaped. */
  pieceBytes: 1 * MiB,
  /** SYN-23: files of one sync_push_many, bytes of their contents together, and how many of them count as one call. */
  pushManyFilesMax: 1000,
  pushManyBytesMax: 8 * MiB,
  pushManyFilesPerCall: 100,
  /** Files of one sync_push_many whose decisions wait for the store at once: other work waits at most this long. */
  pushManyDecisionsMax: 64,
  /** Long contents that are hashed and staged at once; the others wait. */
  longPushesMax: 4,
  /** CAIRN_SYNC_QUOTA_BYTES: bytes of current files and pending conflicts of one account. */
  syncQuotaBytesDefault: 5 * 1024 * MiB,
  /** CAIRN_HISTORY_QUOTA_BYTES: bytes of earlier versions and settled conflicts, and `recordCountedBytes` for each version. */
  historyQuotaBytesDefault: 5 * 1024 * MiB,
  hlcCharsMax: 128,
  isoTimeCharsMax: 64,
  /** A device's last visit is written at most this often. */
  deviceSeenMs: 60_000,
  visitsRemembered: 10_000,
  /** How far a client's clock may stand ahead of the hub's to be adopted. */
  hlcAheadMsMax: 300_000,
  deviceIdCharsMax: 128,
  vaultIdCharsMax: 64,
  /** A modification time this much older than the one before it is worth a warning. */
  mtimeRegressMs: 2000,
  /** Versions of one path that a decision looks through for a hash. */
  chainWalkMax: 10_000,
  /** Files that are looked through for the hash of a base that the path never had, and how many in one turn. */
  foreignBaseFilesMax: 10_000,
  foreignBaseTurnFiles: 500,
  /** Every version is kept this long, and the newest of each path for good. */
  historyDays: 30,
  historyVersionsMin: 20,
  /** Rows that background work reads or removes in one turn. */
  sweepTurnRows: 200,
  historyDefault: 50,
  historyMax: 200,
  /** Files that one call of a restore to a time looks at, and changes that it makes. */
  asOfFilesMax: 20_000,
  asOfChangesMax: 200,
  conflictsDefault: 100,
  conflictsMax: 500,
  conflictCursorCharsMax: 2000,
  pendingConflictsPerPathMax: 10,
  /** Bytes of one pack of lines. A socket takes some hundred KiB at a time, and what it did not take is read again. */
  packBytesMax: 256 * KiB,
  /** A line above this is not packed: it is read from its version. */
  packLineBytesMax: 64 * KiB,
  /** Versions that one pack is made from. */
  packVersionsMax: 512,
  /** A pack is written again when this part of its lines (one in …) is dead. */
  packWornShare: 3,
  /** Packs that become one at a time. */
  packsJoinedMax: 8,
  /** Packs that one decision removes. */
  packsRemovedMax: 64,
  /** How often vaults that changed are looked at, and how long one must be quiet to be packed. */
  packLookMs: 250,
  packRestMs: 500,
  /** Changes after which a vault is packed although it is not quiet. */
  packBacklogVersions: 8192,
  /** Packs of all vaults that are remembered as they stand, without their indexes. */
  packsRemembered: 20_000,
  /** Versions after the packs that a pull reads one by one; above, it packs them first. */
  tailVersionsMax: 1024,
  /** Lines of one pull, and paths that it may select. */
  pullLinesMax: 1_000_000,
  /** Damaged files that a pull names when it leaves them out. */
  leftOutNamedMax: 5,
  pullPathsMax: 1000,
  /** The list of changes that a pull is to leave out. */
  pullSkipCharsMax: 4096,
  /** Bytes of lines in a pull that is answered as one JSON document. */
  pullDocumentBytesMax: 4 * MiB,
  /** Longest wait for a change (SYN-22), and how many may wait at once. */
  waitSecondsMax: 55,
  waitersMax: 10_000,
  listPageDefault: 1000,
  listPageMax: 10_000,
  /** Files that one call of a list of files looks at, and those of one turn. */
  listScanMax: 20_000,
  listTurnRows: 32,
  /** Rows that a page of one folder looks at: deleted files and other folders' are passed over. */
  folderScanMax: 5000,
  listCursorCharsMax: 4096,
  /** Globs that one glob with braces may stand for. */
  globChoicesMax: 32,
  /** Characters that one call of a list of files compares; then it says where to go on. */
  globWorkChars: 20_000_000,
  /** Files that the manifest of a device and its bases name together. */
  manifestFilesMax: 40_000,
  /** Files, deleted ones too, that one comparison with a manifest looks at, and older versions of all of them. */
  standingScanMax: 250_000,
  standingLinksMax: 20_000,
  /** Paths that one answer names to pull, push, delete or settle, of each kind. */
  standingPathsMax: 5000,
  /** Devices that a vault remembers. */
  devicesMax: 1000,
  vaultsMax: 100,
  primariesRemembered: 10_000,
  /** Globs of all vaults that are remembered taken apart. */
  globsRemembered: 10_000,
  vaultNameCharsMax: 100,
  protectedGlobsMax: 100,
  globCharsMax: 200,
} as const;
