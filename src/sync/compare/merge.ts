/**
 * Merges a caller's copy of a file with the hub's: finds the three sides, merges them, returns the base to push with.
 * Read-only.
 */
import { invalidField, Refusal } from '../../common/fault.ts';
import { SIDE_LABELS } from '../../limits/conflict-marks.ts';
import type { ConflictStyle, Favor } from '../../text/merge.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { checkPath } from '../log/paths.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import type { WholeEncoding } from '../log/version.ts';
import { readBase } from '../push/input.ts';
import type { Base } from '../push/types.ts';
import type { Vaults } from '../vaults/vaults.ts';
import type { TextComparer } from './comparer.ts';
import type { SideReader } from './side-reader.ts';
import { planMerge, type Side } from './sides.ts';

export interface MergeRequest {
  readonly path?: string | undefined;
  readonly content?: string | undefined;
  readonly encoding?: WholeEncoding | undefined;
  readonly base_sha?: string | undefined;
  readonly conflict_id?: string | undefined;
  readonly favor?: Favor | undefined;
  readonly style?: ConflictStyle | undefined;
  readonly vault_id?: string | undefined;
  /** Names of the sides in conflict markers; default: `yours` and `hub`. */
  readonly labels?: { readonly yours: string; readonly hub: string } | undefined;
}

export interface MergeAnswer {
  readonly vaultId: string;
  readonly path: string;
  /** Undefined when the result is a deleted file, or when one side must be chosen. */
  readonly content: { readonly text: string; readonly encoding: WholeEncoding; readonly sha256: string } | undefined;
  readonly deleted: boolean;
  readonly conflicts: number;
  /** The `base_sha` to push with: the current sha256, or empty when there must be no file. */
  readonly baseSha: string;
  readonly ancestorSha: string | undefined;
  /** The current version. Undefined when there is no file. */
  readonly live: FileRecord | undefined;
  /** Clock of the newest version of the path, tombstones included. Undefined when the path has no versions. */
  readonly serverHlc: string | undefined;
}

export interface MergeQueryOptions {
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly sides: SideReader;
  readonly comparer: TextComparer;
}

/** The caller's side, taken from a conflict or from the request itself. */
interface Asked {
  readonly path: string;
  readonly folded: string;
  readonly ours: Side;
  readonly base: Base;
}

export class MergeQuery {
  readonly #options: MergeQueryOptions;

  constructor(options: MergeQueryOptions) {
    this.#options = options;
  }

  /**
   * Throws Refusal `invalid_fields` when a field is invalid, `not_found` when the conflict does not exist, and
   * `path_not_found` when no conflict is named and the path never had a file.
   */
  async merge(accountId: string, request: MergeRequest): Promise<MergeAnswer> {
    const { vaults, reader, sides } = this.#options;
    const vaultId = await vaults.idOf(accountId, request.vault_id);
    const vault = { accountId, vaultId };
    const asked = await this.#asked(vault, request);
    const file = reader.file(vaultId, asked.folded);
    if (file === undefined && request.conflict_id === undefined) {
      throw new Refusal({ kind: 'path_not_found', path: asked.path, deletedAt: null });
    }
    const ancestor = await sides.base(vault, file, asked.base);
    const merged = await this.#mergeSides(
      accountId,
      {
        base: ancestor === undefined ? baseOf(asked.base) : await sides.version(vault, ancestor.seq),
        ours: asked.ours,
        theirs: await sides.current(vault, file),
      },
      request,
    );
    const live = liveFile(file);
    return {
      ...merged,
      vaultId,
      path: file?.path ?? asked.path,
      baseSha: live?.sha256 ?? '',
      ancestorSha: ancestor?.sha256,
      live,
      serverHlc: file?.hlc,
    };
  }

  async #asked({ accountId, vaultId }: VaultOf, request: MergeRequest): Promise<Asked> {
    const { reader, sides } = this.#options;
    const { conflict_id: conflictId, path, content, encoding, base_sha: baseSha } = request;
    if (conflictId !== undefined) {
      for (const [field, value] of Object.entries({ path, content, encoding, base_sha: baseSha })) {
        if (value !== undefined)
          throw invalidField(field, `${field} cannot be combined with conflict_id, which already names it`);
      }
      const conflict = reader.conflict(vaultId, conflictId);
      const { record } = conflict;
      const base = readBase(record.base_sha ?? undefined);
      return { ...checkPath(record.path), ours: sides.conflict(vaultId, conflict), base };
    }
    if (path === undefined) throw invalidField('path', 'path or conflict_id is required');
    if (content === undefined) throw invalidField('content', 'content or conflict_id is required');
    const checked = checkPath(path);
    const base = readBase(baseSha);
    const { side } = await sides.given(accountId, { content, encoding: encoding ?? 'utf-8', sha256: undefined });
    return { ...checked, ours: side, base };
  }

  async #mergeSides(
    accountId: string,
    three: { readonly base: Side | undefined; readonly ours: Side; readonly theirs: Side },
    { favor = 'none', style = 'merge', labels = SIDE_LABELS }: MergeRequest,
  ): Promise<Pick<MergeAnswer, 'content' | 'deleted' | 'conflicts'>> {
    if (Object.values(three).some((side) => side?.kind === 'large')) {
      throw invalidField(
        'path',
        'a file larger than what is sent whole is not merged; settle its conflict with one of the sides',
      );
    }
    const plan = planMerge(three, favor);
    if (plan.kind === 'choose') return { content: undefined, deleted: false, conflicts: 1 };
    if (plan.kind === 'take')
      return { content: contentOf(plan.side), deleted: plan.side.kind === 'nothing', conflicts: 0 };
    const merged = await this.#options.comparer.merge(
      {
        texts: plan.texts,
        options: { favor, style, labels: { base: 'base', ours: labels.yours, theirs: labels.hub } },
      },
      accountId,
    );
    if (merged === undefined) return { content: undefined, deleted: false, conflicts: 1 };
    const { content: text, conflicts, sha256 } = merged;
    return { content: { text, encoding: 'utf-8', sha256 }, deleted: false, conflicts };
  }
}

/**
 * The base side when no version of it was found: `nothing` when the caller expects no file, else undefined (unknown).
 */
function baseOf(base: Base): Side | undefined {
  return base.kind === 'nothing' ? { kind: 'nothing' } : undefined;
}

function contentOf(side: Side): MergeAnswer['content'] {
  if (side.kind === 'nothing' || side.kind === 'large') return undefined;
  return { text: side.text, encoding: side.kind === 'binary' ? 'base64' : 'utf-8', sha256: side.sha256 };
}
