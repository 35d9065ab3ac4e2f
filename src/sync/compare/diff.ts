/** Compares a caller's copy of a file with the hub's: its status and a diff. Read-only. */
import { invalidField } from '../../common/fault.ts';
import type { FileRecord } from '../log/file-record.ts';
import { checkPath } from '../log/paths.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import type { WholeEncoding } from '../log/version.ts';
import { readBase } from '../push/input.ts';
import type { Vaults } from '../vaults/vaults.ts';
import type { TextComparer } from './comparer.ts';
import type { SideReader } from './side-reader.ts';
import type { Side } from './sides.ts';

export const DIFF_STATUSES = ['identical', 'remote_ahead', 'local_ahead', 'diverged', 'missing', 'deleted'] as const;
type DiffStatus = (typeof DIFF_STATUSES)[number];

export interface DiffQueryRequest {
  readonly path: string;
  readonly content?: string | undefined;
  readonly encoding?: WholeEncoding | undefined;
  readonly sha256?: string | undefined;
  readonly base_sha?: string | undefined;
  readonly context?: number | undefined;
  readonly vault_id?: string | undefined;
}

export interface DiffAnswer {
  readonly vaultId: string;
  readonly path: string;
  readonly status: DiffStatus;
  /** The newest version of the path, tombstones included. Undefined when the path has no versions. */
  readonly file: FileRecord | undefined;
  /** True when the version named by `base_sha` is one of the kept versions of the file. */
  readonly isBaseKept: boolean;
  /**
   * From the hub's content to the caller's; without a copy, from the previous version to the current one. Undefined
   * when the caller's content is not known.
   */
  readonly diff: string | undefined;
}

export interface DiffQueryOptions {
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly sides: SideReader;
  readonly comparer: TextComparer;
}

const CONTEXT_LINES_DEFAULT = 3;
const NO_FILE = '/dev/null';

/** The caller's copy: its hashes, and its content when known. */
interface Local {
  readonly sha256: string;
  /** Undefined when only a SHA-256 was given and no kept version has it. */
  readonly gitSha: string | undefined;
  readonly side: Side | undefined;
  /** True when a kept version of this file has these bytes. */
  readonly isKept: boolean;
}

export class DiffQuery {
  readonly #options: DiffQueryOptions;

  constructor(options: DiffQueryOptions) {
    this.#options = options;
  }

  /** Throws Refusal `invalid_fields` when a field of the request is invalid. */
  async diff(accountId: string, request: DiffQueryRequest): Promise<DiffAnswer> {
    const { vaults, reader, sides } = this.#options;
    const path = checkPath(request.path);
    const base = readBase(request.base_sha);
    const vaultId = await vaults.idOf(accountId, request.vault_id);
    const file = reader.file(vaultId, path.folded);
    const local = await this.#local({ accountId, vaultId }, file, request);
    const sha = base.kind === 'sha' ? base.sha : undefined;
    const kept = await sides.base({ accountId, vaultId }, file, base);
    return {
      vaultId,
      path: file?.path ?? path.path,
      status: statusOf(file, local, kept === undefined ? [sha] : [kept.sha256, kept.gitSha]),
      file,
      isBaseKept: kept !== undefined,
      diff: await this.#text({ accountId, vaultId, path: path.path, file, local, contextLines: request.context }),
    };
  }

  /** The caller's copy. Undefined when neither content nor a hash was given. */
  async #local(vault: VaultOf, file: FileRecord | undefined, request: DiffQueryRequest): Promise<Local | undefined> {
    const { sides } = this.#options;
    const { content, sha256, encoding = 'utf-8' } = request;
    const given = content === undefined ? undefined : await sides.given(vault.accountId, { content, encoding, sha256 });
    const wanted = given?.side.sha256 ?? (sha256 === undefined ? undefined : readSha256(sha256));
    if (wanted === undefined) return undefined;
    const link = file && (await sides.find(vault, file, wanted));
    const side = given?.side ?? (link && (await sides.version(vault, link.seq)));
    return { sha256: wanted, gitSha: given?.gitSha ?? link?.gitSha, side, isKept: link !== undefined };
  }

  async #text({ accountId, vaultId, path, file, local, contextLines }: TextRequest): Promise<string | undefined> {
    const { reader, sides, comparer } = this.#options;
    const vault = { accountId, vaultId };
    const current = await sides.current(vault, file);
    let [before, after]: [Side, Side | undefined] = [current, local?.side];
    let [beforeName, afterName] = [`hub/${path}`, `yours/${path}`];
    if (local === undefined) {
      const previousSeq = file === undefined ? undefined : reader.versionHead(vaultId, file.seq)?.previousSeq;
      [before, after] = [await sides.version(vault, previousSeq ?? 0), current];
      [beforeName, afterName] = [`previous/${path}`, `hub/${path}`];
    }
    if (after === undefined) return undefined;
    if (before.kind === 'nothing') beforeName = NO_FILE;
    if (after.kind === 'nothing') afterName = NO_FILE;
    const [from, to] = [textOf(before), textOf(after)];
    if (from === undefined || to === undefined) {
      return isSame(before, after) ? '' : `Binary files ${beforeName} and ${afterName} differ\n`;
    }
    return comparer.diff(
      { before: from, after: to, beforeName, afterName, contextLines: contextLines ?? CONTEXT_LINES_DEFAULT },
      accountId,
    );
  }
}

interface TextRequest {
  readonly accountId: string;
  readonly vaultId: string;
  readonly path: string;
  readonly file: FileRecord | undefined;
  readonly local: Local | undefined;
  readonly contextLines: number | undefined;
}

/** Returns the status of the caller's copy. `base`: the known hashes of the caller's base version. */
function statusOf(
  file: FileRecord | undefined,
  local: Local | undefined,
  base: readonly (string | undefined)[],
): DiffStatus {
  if (file === undefined) return 'missing';
  if (file.deleted) return 'deleted';
  // Without a copy, nothing local can be ahead.
  if (local === undefined) return 'remote_ahead';
  if (local.sha256 === file.sha256) return 'identical';
  if (base.includes(file.sha256)) return 'local_ahead';
  if (base.includes(local.sha256) || (local.gitSha !== undefined && base.includes(local.gitSha))) return 'remote_ahead';
  // Without a base, a copy equal to a kept version counts as an old one.
  return local.isKept && base.every((sha) => sha === undefined) ? 'remote_ahead' : 'diverged';
}

function readSha256(given: string): string {
  if (/^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase();
  throw invalidField('sha256', 'sha256 must be 64 hex characters');
}

/** The text to compare. Undefined for a binary file. */
function textOf(side: Side): string | undefined {
  if (side.kind === 'nothing') return '';
  return side.kind === 'text' ? side.text : undefined;
}

function isSame(a: Side, b: Side): boolean {
  return a.kind !== 'nothing' && b.kind !== 'nothing' && a.sha256 === b.sha256;
}
