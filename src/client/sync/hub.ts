/** Calls the sync tools of a hub for one vault, in portions that fit the connection, and reads the answers. */
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { ClientError, Unreachable } from '../client-error.ts';
import type { ClientAnswer } from '../http.ts';
import { patiently } from '../patiently.ts';
import { formatBytes } from '../progress.ts';
import { SpareCalls } from '../spare-calls.ts';
import { isOutdated, ToolRefused } from '../tool-refused.ts';
import type { CallHow, ToolAnswer, ToolClient } from '../tools.ts';
import { type Amount, added, NOTHING } from './amount.ts';
import type { SyncState } from './base/state.ts';
import { sha256Of } from './folder/file.ts';
import { type FolderPath, isBad } from './folder/path.ts';
import { Portion } from './portion.ts';
import {
  type LeftOut,
  leftOutSchema,
  type RemoteRecord,
  readAs,
  readRemoteRecord,
  timeSchema,
} from './remote-record.ts';

/** JSON-RPC codes: invalid argument, internal error. */
const INVALID = -32602;
const INTERNAL = -32603;
/** HTTP status. */
const NOT_FOUND = 404;
const GONE =
  'the vault of this folder is no longer on the hub. The files here stay as they are. To sync them with another vault, remove .cairn and name that vault: `cairn sync --vault NAME`.';
const ODD = ' Check --server, and update cairn or the hub.';

const OLDER_HUB = new ToolRefused(
  INVALID,
  `this hub takes files of at most ${formatBytes(limits.fileBytesMax)}. Update the hub, then sync again.`,
);

const missingSchema = z.object({ missing: z.array(z.string()) });
const endSchema = z.object({
  cursor: z.string().nullable(),
  has_more: z.boolean(),
  quarantined: leftOutSchema,
});
const newsSchema = z.object({
  total_count: z.number(),
  deleted_count: z.number(),
  has_more: z.boolean(),
  quarantined: leftOutSchema,
});
const pushedSchema = z.object({
  status: z.string(),
  seq: z.int().positive(),
  sha256: z.string(),
  stored_at: timeSchema,
});
const refusedSchema = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() }),
});
const manySchema = z.object({ results: z.array(z.union([refusedSchema, pushedSchema])) });
const diffSchema = z.object({ base_available: z.boolean() });
const sizeSchema = z.object({ total_count: z.number(), total_size_bytes: z.number() });

/** A file that is sent as chunks. */
export interface LargeFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** The bytes of each of its chunks, as they are asked for. */
  readonly chunkBytes: readonly number[];
}

/** Callbacks for arriving changes. */
export interface PullArrivals {
  readonly record: (record: RemoteRecord) => void;
  /** A path not allowed in this folder, with the reason; undefined: the path is deleted. */
  readonly foreign: (path: string, reason: string | undefined) => void;
  /** A record whose content does not match its hash. */
  readonly damaged: (record: RemoteRecord) => void;
  readonly progress: (amount: Amount) => void;
}

/** Where a pull continues, and the changes of this folder that it leaves out. */
export interface PullFrom {
  readonly cursor: string | null;
  readonly own: SyncState['own'];
}

export interface PullEnd {
  readonly cursor: string;
  readonly hasMore: boolean;
  readonly leftOut: LeftOut;
}

export type PushedFile = z.infer<typeof pushedSchema>;

/** Arguments of one sync_push, without the vault. */
export type PushCall = Readonly<Record<string, unknown>> & { readonly path: string };

/** A watch was told to end or to pause in the middle of a round: what was not asked of the hub yet is left for a later one. */
export class RoundEnded extends Error {}

/** The vault does not exist on the hub; a retry cannot succeed. */
export class VaultGone extends ClientError {}

interface HubHooks {
  readonly onBusy?: (seconds: number) => void;
  readonly isEnding?: () => boolean;
}

export class VaultHub {
  readonly #tools: ToolClient;
  readonly #vaultId: string;
  readonly #onBusy: (seconds: number) => void;
  readonly #isEnding: () => boolean;
  /** Number of changes per pull. A broken connection loses at most one page. */
  readonly #page = new Portion({
    first: limits.clientPullFilesFirst,
    min: limits.clientPullFilesMin,
    max: limits.clientPullFilesMax,
  });
  /** Total of the pages received in this pull. */
  #pulled = NOTHING;
  readonly #spare = new SpareCalls();
  /** True once the hub said that it does not know large files. */
  #isOlder = false;
  /** The files that the last pull left out as damaged. */
  #leftOut: LeftOut = new Map();

  /**
   * `onBusy` receives the number of seconds that the hub asks to wait. Before each request of a round, `isEnding` tells whether
   * the round ends there, with RoundEnded.
   */
  constructor(tools: ToolClient, vaultId: string, { onBusy = () => undefined, isEnding = () => false }: HubHooks = {}) {
    this.#tools = tools;
    this.#vaultId = vaultId;
    this.#onBusy = onBusy;
    this.#isEnding = isEnding;
  }

  /** Pulls one page of changes since the cursor, or of the whole vault, as a stream. Long ones have no content. */
  async pull(from: PullFrom, arrivals: PullArrivals): Promise<PullEnd> {
    if (from.cursor === null) this.#pulled = { ...NOTHING, ...(await this.#sizeOfVault()) };
    const before = this.#pulled;
    let page = NOTHING;
    const progress = (amount: Amount) => {
      page = amount;
      this.#pulled = added(before, amount);
      arrivals.progress(this.#pulled);
    };
    const startMs = performance.now();
    const args = { ...placeOf(from), brief: true, limit: this.#page.size };
    const end = await this.#stream(args, { ...arrivals, progress });
    this.#page.measure(page.files, performance.now() - startMs);
    if (!end.has_more) this.#pulled = NOTHING;
    if (end.has_more && end.cursor === from.cursor)
      throw new ClientError(`the hub keeps sending the same changes.${ODD}`);
    if (end.cursor === null) throw new ClientError('the hub ended a pull without a cursor. Update cairn or the hub.');
    this.#leftOut = end.quarantined;
    return { cursor: end.cursor, hasMore: end.has_more, leftOut: end.quarantined };
  }

  /** Pulls the current state of these paths; unknown paths are skipped. Resolves with the paths left out as damaged. */
  async pullPaths(
    paths: readonly FolderPath[],
    arrivals: PullArrivals,
    how: { readonly brief: boolean; readonly signal?: AbortSignal },
  ): Promise<LeftOut> {
    const { brief, ...more } = how;
    const leftOut = new Map<FolderPath, string>();
    for (let at = 0; at < paths.length; at += limits.clientPullPaths) {
      const some = { paths: paths.slice(at, at + limits.clientPullPaths), brief };
      const end = await this.#stream(some, arrivals, more);
      for (const [path, sha256] of end.quarantined) leftOut.set(path, sha256);
    }
    return leftOut;
  }

  /**
   * True once a change is newer than the cursor; after `waitSeconds` without one, true when other files than at the last
   * pull are damaged on the hub. Throws when aborted.
   */
  async hasNews(from: PullFrom, waitSeconds: number, signal: AbortSignal): Promise<boolean> {
    const args = { vault_id: this.#vaultId, ...placeOf(from), brief: true, wait_seconds: waitSeconds, limit: 1 };
    const { structured } = await this.#withChunks((more) =>
      this.#tools.call('sync_pull', { ...args, ...more }, { signal }),
    );
    const news = readAs(newsSchema, structured);
    const isOther = JSON.stringify([...news.quarantined]) !== JSON.stringify([...this.#leftOut]);
    return news.total_count + news.deleted_count > 0 || news.has_more || isOther;
  }

  /** False when the hub was restored from a backup or replaced since the cursor, so that the folder starts over. */
  async knows(from: PullFrom): Promise<boolean> {
    if (from.cursor === null) return true;
    try {
      await this.#withChunks((more) => this.call('sync_pull', { ...placeOf(from), brief: true, limit: 1, ...more }));
      return true;
    } catch (error) {
      if (isOutdated(error)) return false;
      throw error;
    }
  }

  /** Pushes some files in one request; the outcomes are in the same order. */
  async push(many: readonly PushCall[], how: CallHow = {}): Promise<(PushedFile | ToolRefused)[]> {
    const [only] = many;
    if (only === undefined) return [];
    if (many.length === 1) return [await this.#pushOne(only, how)];
    const { structured } = await this.call('sync_push_many', { files: many });
    const { results } = readAs(manySchema, structured);
    const found: (PushedFile | ToolRefused)[] = [];
    for (const [index, one] of many.entries()) {
      const result = results[index];
      if (result === undefined)
        throw new ClientError('the hub did not answer for every file; the next sync continues.');
      if (!('error' in result)) {
        found.push(result);
        continue;
      }
      const { code, message, data } = result.error;
      const refusal = new ToolRefused(code, message, data);
      if (refusal.isHubFailure) throw refusal;
      // A busy hub refuses single items; these are sent again one by one.
      found.push(refusal.waitSeconds === undefined ? refusal : await this.#pushOne(one));
    }
    return found;
  }

  /** Reads one file as the hub has it, with its content; that of a large file is the list of its chunks. */
  async pullOne(path: string): Promise<ToolAnswer> {
    return await this.#withChunks((more) => this.call('sync_pull', { path, ...more }));
  }

  /**
   * Those of the chunks of a file that the hub does not have. Throws ToolRefused when it has no room for the file, or is too
   * old for large files.
   */
  async missingChunks(sha256: readonly string[], file: LargeFile, how: CallHow = {}): Promise<ReadonlySet<string>> {
    try {
      const { path, sizeBytes: size_bytes, chunkBytes: chunk_bytes } = file;
      const body = JSON.stringify({ sha256, file: { path, size_bytes, chunk_bytes } });
      const answer = await this.#patiently(() => this.#tools.ask('POST', this.#chunksPath, body, how));
      return new Set(readAs(missingSchema, answer.json()).missing);
    } catch (error) {
      throw error instanceof ToolRefused && error.data['status'] === NOT_FOUND ? OLDER_HUB : error;
    }
  }

  /** Stores a chunk on the hub. */
  async putChunk(sha256: string, bytes: Uint8Array, how: CallHow = {}): Promise<void> {
    await this.#askForChunk('PUT', sha256, bytes, how);
  }

  /** The bytes of a chunk, which were compared with its hash; undefined when the hub does not have it, or damaged. */
  async getChunk(sha256: string, how: CallHow = {}): Promise<Buffer | undefined> {
    try {
      const { bytes } = await this.#askForChunk('GET', sha256, undefined, how);
      return sha256Of(bytes) === sha256 ? bytes : undefined;
    } catch (error) {
      if (error instanceof ToolRefused && error.data['status'] === NOT_FOUND) return undefined;
      throw error;
    }
  }

  async #askForChunk(
    method: 'GET' | 'PUT',
    sha256: string,
    body: Uint8Array | undefined,
    how: CallHow,
  ): Promise<ClientAnswer> {
    return await this.#patiently(async () => {
      await this.#spare.wait(how.signal);
      const answer = await this.#tools.ask(method, `${this.#chunksPath}/${sha256}`, body, how);
      this.#spare.note(answer);
      return answer;
    });
  }

  get #chunksPath(): string {
    return `/api/vaults/${encodeURIComponent(this.#vaultId)}/chunks`;
  }

  /** True when the hub still stores these bytes as a version of the path. */
  async hasVersion(path: FolderPath, sha256: string): Promise<boolean> {
    try {
      const { structured } = await this.call('sync_diff', { path, sha256, base_sha: sha256 });
      return readAs(diffSchema, structured).base_available;
    } catch (error) {
      // A name that no hub accepts has no versions, and a damaged one is not stored.
      if (error instanceof ToolRefused && (error.code === INVALID || error.code === INTERNAL)) return false;
      throw error;
    }
  }

  /** Settles a pending conflict for the hub's side; its bytes are kept among the settled conflicts. */
  async dismiss(conflictId: string): Promise<void> {
    try {
      await this.call('sync_resolve_conflict', { conflict_id: conflictId, keep: 'theirs' });
    } catch (error) {
      // Settled just now by another device or a later push.
      if (!(error instanceof ToolRefused)) throw error;
    }
  }

  async call(name: string, args: Readonly<Record<string, unknown>>, how: CallHow = {}): Promise<ToolAnswer> {
    return await this.#patiently(() => {
      this.#checkRound(how);
      return this.#tools.call(name, { vault_id: this.#vaultId, ...args }, how);
    });
  }

  async #sizeOfVault(): Promise<Pick<Amount, 'filesTotal' | 'bytesTotal'>> {
    const { structured } = await this.call('sync_list', { limit: 1 });
    const size = readAs(sizeSchema, structured);
    return { filesTotal: size.total_count, bytesTotal: size.total_size_bytes };
  }

  async #stream(
    args: Readonly<Record<string, unknown>> & { readonly limit?: number; readonly paths?: readonly string[] },
    { record, foreign, damaged, progress }: PullArrivals,
    how: Pick<CallHow, 'signal'> = {},
  ) {
    const { paths, limit: recordsMax = paths?.length ?? 0 } = args;
    let files = 0;
    let bytes = 0;
    const stream = (more: object) => {
      this.#checkRound(how);
      return this.#tools.stream(
        'sync_pull',
        { vault_id: this.#vaultId, ...args, ...more },
        (given, totals) => {
          const { path, ...rest } = readRemoteRecord(given);
          files += 1;
          if (files > recordsMax) throw new ClientError(`the hub sent more than it was asked for.${ODD}`);
          const content = rest.side?.bytes;
          bytes += content?.length ?? 0;
          const isWhole = content === undefined || sha256Of(content) === rest.side?.sha256;
          if (isBad(path)) foreign(String(given['path']), rest.side === undefined ? undefined : path.bad);
          else if (!isWhole) damaged({ path, ...rest });
          else record({ path, ...rest });
          const filesTotal = Math.max(files, totals.total_count);
          progress({ files, filesTotal, bytes, bytesTotal: Math.max(bytes, totals.total_size_bytes) });
        },
        how,
      );
    };
    return readAs(endSchema, await this.#patiently(() => this.#withChunks(stream)));
  }

  /** Pulls with large files as lists of their chunks; a hub that is too old for them has none. */
  async #withChunks<T>(pull: (more: object) => Promise<T>): Promise<T> {
    try {
      return await pull(this.#isOlder ? {} : { chunks: true });
    } catch (error) {
      // It may come back as another version.
      if (error instanceof Unreachable) this.#isOlder = false;
      if (!(error instanceof ToolRefused && error.data['field'] === 'chunks')) throw error;
      this.#isOlder = true;
      return await pull({});
    }
  }

  async #pushOne(args: Readonly<Record<string, unknown>>, how: CallHow = {}): Promise<PushedFile | ToolRefused> {
    try {
      return readAs(pushedSchema, (await this.call('sync_push', args, how)).structured);
    } catch (error) {
      if (error instanceof ToolRefused && !error.isHubFailure) return error;
      throw error;
    }
  }

  /** Transfers beside the rounds have a signal of their own. */
  #checkRound({ signal }: Pick<CallHow, 'signal'>): void {
    if (signal === undefined && this.#isEnding()) throw new RoundEnded('the watch was told to end or to pause');
  }

  /** Repeats a call while the hub is busy. Throws VaultGone. */
  async #patiently<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await patiently(call, this.#onBusy);
    } catch (error) {
      if (error instanceof ToolRefused && error.data['field'] === 'vault_id') throw new VaultGone(GONE);
      throw error;
    }
  }
}

function placeOf({ cursor, own }: PullFrom): Readonly<Record<string, unknown>> {
  if (cursor === null) return { initial: true };
  return own.length === 0 ? { cursor } : { cursor, skip: own.map(([from, to]) => `${from}-${to}`).join(',') };
}
