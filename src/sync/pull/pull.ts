/**
 * Runs a pull. What it sends is chosen once, in one turn and from one snapshot; the resulting plan is read while it is
 * sent. So the length is known before the first byte, and later writes change nothing.
 */
import { invalidField, Refusal } from '../../common/fault.ts';
import type { SeekableRun } from '../../http/reply/byte-run.ts';
import type { Linger } from '../../http/route/route.ts';
import { isChunked } from '../../limits/large-file.ts';
import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { VaultPath } from '../log/paths.ts';
import type { SyncReader } from '../log/reader.ts';
import { briefLineBytes } from '../log/version.ts';
import type { Packer } from '../packs/packer.ts';
import type { VaultViews } from '../packs/vault-view.ts';
import type { TailVersion } from '../packs/view-types.ts';
import type { PullVisits } from '../vaults/pull-visits.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { type Choice, type Chosen, choose } from './choose.ts';
import {
  type CursorHash,
  formatPullCursor,
  outdated,
  type PullPosition,
  type PullScope,
  readPullCursor,
} from './cursor.ts';
import { type PullArguments, type PullMode, readPullMode } from './input.ts';
import { PlanBuilder } from './plan.ts';
import type { PlanRuns } from './plan-run.ts';
import { SeqRanges } from './seq-ranges.ts';
import type { Waiters } from './waiters.ts';

export interface PullOptions {
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly views: VaultViews;
  readonly runs: PlanRuns;
  readonly packer: Packer;
  readonly waiters: Waiters;
  readonly visits: PullVisits;
  /** Binds cursors to this hub. */
  readonly hash: CursorHash;
  /** Identifies the data file; a restore from a backup changes it. */
  readonly epoch: string;
  readonly now: () => number;
}

/** How the caller accepts an answer. */
export interface PullCaller {
  /** True when this many bytes are sent as lines, not as a document. */
  readonly takesLines: (bytes: number) => boolean;
  readonly linger: Linger;
}

export interface PulledFile {
  readonly kind: 'one';
  readonly vaultId: string;
  readonly file: FileRecord;
  readonly line: SeekableRun;
}

export interface PulledFiles {
  readonly kind: 'many';
  readonly vaultId: string;
  /** Ordered by sequence number; when sent as lines, includes the tombstones. */
  readonly files: SeekableRun;
  readonly tombstones: SeekableRun;
  readonly fileCount: number;
  readonly tombstoneCount: number;
  readonly sizeBytes: number;
  /** Null when nothing follows. */
  readonly cursor: string | null;
  readonly hasMore: boolean;
  readonly missing: readonly string[] | undefined;
  readonly serverTime: string;
  /** Current files left out because their stored contents are damaged, `pullPathsMax` of them at most. */
  readonly quarantined: readonly LeftOut[];
  readonly warnings: readonly string[];
}

type LeftOut = Pick<FileRecord, 'path' | 'sha256'>;

/** A request for more than one file. */
interface Asked {
  readonly vaultId: string;
  readonly mode: Exclude<PullMode, { kind: 'one' }>;
  readonly args: PullArguments;
  /** The start position; undefined for a `since` in the future, which matches nothing. */
  readonly from: Pick<PullPosition, 'seq' | 'deletesAfter'> | undefined;
}

export class Pull {
  readonly #options: PullOptions;

  constructor(options: PullOptions) {
    this.#options = options;
  }

  /** Throws Refusal `invalid_fields` (`resync_required` for an outdated cursor), or `path_not_found` for one path. */
  async pull(accountId: string, args: PullArguments, caller: PullCaller): Promise<PulledFile | PulledFiles> {
    const mode = readPullMode(args);
    const vaultId = await this.#options.vaults.idOf(accountId, args.vault_id);
    if (mode.kind === 'one') return this.#one(vaultId, mode.path, args.chunks === true);
    if (args.chunks !== true) this.#refuseChunks(vaultId, mode);
    const asked = { vaultId, mode, args, from: this.#position(vaultId, mode, args.cursor) };
    if (mode.kind !== 'paths') await this.#prepare(asked, caller);
    return this.#many(asked, caller);
  }

  /**
   * Refuses a pull that may send large files to a caller that does not say that it can read them. A pull of many files
   * is a range of packs, so it does not look for them: a vault that stores chunks has, or had, a large file.
   */
  #refuseChunks(vaultId: string, mode: Asked['mode']): void {
    const { reader } = this.#options;
    const isRefused =
      mode.kind === 'paths'
        ? mode.paths.some(({ folded }) => isChunked(reader.file(vaultId, folded)?.size_bytes ?? 0))
        : reader.hasChunks(vaultId);
    if (isRefused) throw chunksRefused();
  }

  #one(vaultId: string, { path, folded }: VaultPath, takesChunks: boolean): PulledFile {
    const { reader, runs, packer } = this.#options;
    const file = reader.file(vaultId, folded);
    if (!takesChunks && isChunked(file?.size_bytes ?? 0)) throw chunksRefused();
    if (file === undefined || file.deleted) {
      const deletedAt = file === undefined ? null : new Date(file.stored_ms).toISOString();
      throw new Refusal({ kind: 'path_not_found', path, deletedAt });
    }
    const plan = new PlanBuilder();
    plan.addLong(versionOf(file));
    return { kind: 'one', vaultId, file, line: runs.of(vaultId, plan.finish(), packer.leases.begin()) };
  }

  #position(vaultId: string, mode: Asked['mode'], cursor: string | undefined): Asked['from'] {
    const { hash, epoch, reader, views, now } = this.#options;
    const head = reader.head(vaultId);
    if (cursor !== undefined) {
      const position = readPullCursor(hash, scopeOf(mode), cursor, { epoch, vaultId });
      // A number beyond the log, or of another change: the data file was replaced by an older one without a restore.
      const { seq, storedMs } = position;
      const isOther = storedMs !== null && (reader.storedMsOf(vaultId, seq) ?? storedMs) !== storedMs;
      if (seq > head.seq || isOther) throw outdated();
      return position;
    }
    if (mode.kind === 'since') {
      if (mode.sinceMs > Math.max(now(), head.stored_ms)) return undefined;
      return { seq: views.seqAt(vaultId, mode.sinceMs), deletesAfter: 0 };
    }
    return { seq: 0, deletesAfter: mode.kind === 'initial' ? head.seq : 0 };
  }

  /** Packs a long tail, which would be read version by version, then waits for a change if `wait_seconds` is given. */
  async #prepare(asked: Asked, caller: PullCaller): Promise<void> {
    const { packer, waiters, vaults } = this.#options;
    const { vaultId, args, from } = asked;
    await packer.settle(vaultId);
    const waitSeconds = args.wait_seconds ?? 0;
    if (waitSeconds === 0 || from === undefined) return;
    const endMs = performance.now() + waitSeconds * 1000;
    let notify = () => {};
    caller.linger(waitSeconds, () => notify());
    for (;;) {
      if (linesOf(this.#choose(asked, { split: false, bytesMax: 0 })) > 0) return;
      const leftMs = endMs - performance.now();
      const changed = await waiters.next(vaultId, leftMs, (end) => {
        notify = end;
      });
      vaults.checkKept(vaultId);
      if (!changed) return;
    }
  }

  #many(asked: Asked, caller: PullCaller): PulledFiles {
    const { runs, packer, visits, epoch, hash, reader, now } = this.#options;
    const { vaultId, mode, args, from } = asked;
    const chosen = this.#chooseFor(asked, caller);
    const { upTo, hasMore, files, tombstones } = chosen;
    if (args.device_id !== undefined && mode.kind !== 'paths') visits.pulled(vaultId, args.device_id, upTo);
    const damaged = leftOut(reader, vaultId, mode);
    const close = packer.leases.begin();
    const storedMs = reader.storedMsOf(vaultId, upTo);
    const position = { epoch, vaultId, seq: upTo, deletesAfter: hasMore ? (from?.deletesAfter ?? 0) : 0, storedMs };
    // A complete list of paths has no continuation: a cursor for all changes would skip the other files.
    const cursor = mode.kind === 'paths' && !hasMore ? null : formatPullCursor(hash, scopeOf(mode), position);
    return {
      kind: 'many',
      vaultId,
      files: runs.of(vaultId, files, close),
      tombstones: runs.of(vaultId, tombstones, close),
      fileCount: files.files,
      tombstoneCount: files.tombstones + tombstones.tombstones,
      sizeBytes: files.sizeBytes,
      cursor,
      hasMore,
      missing: mode.kind === 'paths' ? missingOf(mode, (folded) => reader.file(vaultId, folded)) : undefined,
      serverTime: new Date(now()).toISOString(),
      quarantined: damaged.slice(0, limits.pullPathsMax),
      warnings: [
        ...(from === undefined
          ? ['since is in the future, so nothing can have changed after it; check the clock']
          : []),
        ...leftOutSentence(damaged),
      ],
    };
  }

  /** Chooses one stream when the caller accepts it as lines, otherwise as much as fits into a document. */
  #chooseFor(asked: Asked, { takesLines }: PullCaller): Chosen {
    if (takesLines(Number.MAX_SAFE_INTEGER)) {
      const whole = this.#choose(asked, { split: false, bytesMax: Number.POSITIVE_INFINITY });
      if (takesLines(whole.files.bytes)) return whole;
    }
    return this.#choose(asked, { split: true, bytesMax: limits.pullDocumentBytesMax });
  }

  #choose({ vaultId, mode, args, from }: Asked, how: Pick<Choice, 'split' | 'bytesMax'>): Chosen {
    const { views, reader } = this.#options;
    const { seq } = reader.head(vaultId);
    const view =
      from === undefined
        ? { seq, packs: [], tail: [] }
        : mode.kind === 'paths'
          ? { seq, packs: [], tail: selected(mode, (folded) => reader.file(vaultId, folded)) }
          : views.after(vaultId, from.seq);
    return choose(view, {
      ...how,
      after: from?.seq ?? seq,
      deletesAfter: from?.deletesAfter ?? 0,
      exceptDevice: mode.kind === 'paths' ? undefined : args.device_id,
      skip: new SeqRanges(args.skip, reader.setAsideOf(vaultId)),
      briefBytes: args.brief === true ? (long) => this.#briefBytes(vaultId, long) : undefined,
      linesMax: args.limit ?? limits.pullLinesMax,
    });
  }

  #briefBytes(vaultId: string, seq: number): number {
    const head = this.#options.reader.versionHead(vaultId, seq);
    if (head === undefined) throw new Error('a current version is not in the store; run `cairn verify`');
    return briefLineBytes(head);
  }
}

const chunksRefused = () =>
  invalidField(
    'chunks',
    `this vault has files larger than ${limits.fileBytesMax / 2 ** 20} MiB, which this version of the client cannot read; update cairn on this device (or pull with chunks: true and read each chunk)`,
  );

/** Returns the current files left out because their stored contents are damaged. */
function leftOut(reader: SyncReader, vaultId: string, mode: Asked['mode']): LeftOut[] {
  const asked = mode.kind === 'paths' ? new Set(mode.paths.map(({ folded }) => folded)) : undefined;
  return reader.setAsideOf(vaultId).flatMap((seq) => {
    const folded = foldCase(reader.versionMeta(vaultId, seq)?.path ?? '');
    const file = asked?.has(folded) === false ? undefined : reader.file(vaultId, folded);
    return file?.seq === seq ? [{ path: file.path, sha256: file.sha256 }] : [];
  });
}

function leftOutSentence(damaged: readonly LeftOut[]): string[] {
  if (damaged.length === 0) return [];
  const named = damaged.slice(0, limits.leftOutNamedMax).map(({ path }) => path);
  return [
    `${damaged.length} damaged files are left out: ${named.join(', ')}; push the same content again to restore them`,
  ];
}

type FindFile = (folded: string) => FileRecord | undefined;
type PathsMode = Extract<PullMode, { kind: 'paths' }>;

function scopeOf({ kind }: PullMode): PullScope {
  return kind === 'paths' ? 'paths' : 'vault';
}

function linesOf({ files, tombstones }: Chosen): number {
  return files.files + files.tombstones + tombstones.tombstones;
}

/** Returns the newest version of each path once, ordered by sequence number. */
function selected({ paths }: PathsMode, find: FindFile): TailVersion[] {
  const folded = new Set(paths.map((path) => path.folded));
  const found = [...folded].map(find).filter((file) => file !== undefined);
  return found.map(versionOf).sort((a, b) => a.seq - b.seq);
}

/** Returns the requested paths under which nothing was ever stored, in the spelling of the request. */
function missingOf({ paths }: PathsMode, find: FindFile): string[] {
  return paths.filter(({ folded }) => find(folded) === undefined).map(({ path }) => path);
}

/** Returns the newest version of a file in the form of an unpacked version. */
function versionOf(file: FileRecord): TailVersion {
  return {
    seq: file.seq,
    previousSeq: 0,
    lineBytes: file.line_bytes,
    sizeBytes: file.size_bytes,
    deleted: file.deleted,
    long: file.line_bytes > limits.packLineBytesMax || isChunked(file.size_bytes),
    device: () => file.device_id,
  };
}
