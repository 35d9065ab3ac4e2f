/** Decides what an account may still write: its quota of a kind, and the part of the disk that is kept for marked accounts. */
import { type QuotaKind, Refusal } from '../common/fault.ts';
import type { Batch } from '../store/group-commit.ts';
import { type CountedKind, usedBytes } from './usage.ts';

export type QuotaBytes = Readonly<Record<QuotaKind, number>>;

export interface QuotasOptions {
  /** What an account has unless the operator gave it more or less. */
  readonly defaults: QuotaBytes;
  /** What the operator set for an account. */
  readonly ownOf: (accountId: string) => Partial<QuotaBytes>;
  /** Whether an account writes on while the disk is nearly full. */
  readonly isMarked: (accountId: string) => boolean;
  readonly isDiskNearlyFull: () => boolean;
}

export class Quotas {
  readonly #options: QuotasOptions;
  /** Refused writes since the start, by what refused them. */
  readonly refusals = { blobs: 0, files: 0, history: 0, documents: 0, reserve: 0 };

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /** Whether only marked accounts can write now. */
  get isReserved(): boolean {
    return this.#options.isDiskNearlyFull();
  }

  /** A write was refused for a quota of files, which file sync decides. */
  noteRefused(kind: QuotaKind): void {
    this.refusals[kind] += 1;
  }

  /** Content bytes that an account may have of a kind. */
  of(accountId: string, kind: QuotaKind): number {
    return this.#options.ownOf(accountId)[kind] ?? this.#options.defaults[kind];
  }

  /** Refuses with `storage_reserved` while the disk is nearly full, unless the operator marked the account. */
  checkReserve(accountId: string): void {
    if (this.#options.isMarked(accountId) || !this.#options.isDiskNearlyFull()) return;
    this.refusals.reserve += 1;
    throw new Refusal({ kind: 'storage_reserved' });
  }

  /** Refuses with `quota_exceeded` or `storage_reserved` what would make an account larger than it may be. */
  check(reader: Pick<Batch, 'get'>, accountId: string, kind: CountedKind, moreBytes: number): void {
    if (moreBytes <= 0) return;
    this.checkReserve(accountId);
    const quotaBytes = this.of(accountId, kind);
    const used = usedBytes(reader, accountId, kind);
    if (used + moreBytes <= quotaBytes) return;
    this.refusals[kind] += 1;
    throw new Refusal({ kind: 'quota_exceeded', of: kind, quotaBytes, usedBytes: used, neededBytes: moreBytes });
  }
}
