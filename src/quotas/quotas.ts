/**
 * Decides how much an account may still write: its quota of a kind, and the part of the disk reserved for marked
 * accounts.
 */
import { type QuotaKind, Refusal } from '../common/fault.ts';
import type { Batch } from '../store/group-commit.ts';
import { type CountedKind, usedBytes } from './usage.ts';

export type QuotaBytes = Readonly<Record<QuotaKind, number>>;

export interface QuotasOptions {
  /** Quotas of an account for which the operator set none. */
  readonly defaults: QuotaBytes;
  /** Quotas that the operator set for an account. */
  readonly ownOf: (accountId: string) => Partial<QuotaBytes>;
  /** True when an account may still write while the disk is nearly full. */
  readonly isMarked: (accountId: string) => boolean;
  readonly isDiskNearlyFull: () => boolean;
}

export class Quotas {
  readonly #options: QuotasOptions;
  /** Refused writes since the start, by reason. */
  readonly refusals = { blobs: 0, files: 0, history: 0, documents: 0, reserve: 0 };

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /** True while only marked accounts can write. */
  get isReserved(): boolean {
    return this.#options.isDiskNearlyFull();
  }

  /** Counts a write refused for a quota of files; file sync makes that decision. */
  noteRefused(kind: QuotaKind): void {
    this.refusals[kind] += 1;
  }

  /** Quota of an account for one kind, in content bytes. */
  of(accountId: string, kind: QuotaKind): number {
    return this.#options.ownOf(accountId)[kind] ?? this.#options.defaults[kind];
  }

  /** Throws `storage_reserved` while the disk is nearly full, unless the operator marked the account. */
  checkReserve(accountId: string): void {
    if (!this.#isKeptOut(accountId)) return;
    this.refusals.reserve += 1;
    throw new Refusal({ kind: 'storage_reserved' });
  }

  /** Throws `quota_exceeded` or `storage_reserved` for a write that would exceed the account's quota. */
  check(reader: Pick<Batch, 'get'>, accountId: string, kind: CountedKind, moreBytes: number): void {
    if (this.fits(reader, accountId, kind, moreBytes)) return;
    this.checkReserve(accountId);
    const [quotaBytes, used] = [this.of(accountId, kind), usedBytes(reader, accountId, kind)];
    this.refusals[kind] += 1;
    throw new Refusal({ kind: 'quota_exceeded', of: kind, quotaBytes, usedBytes: used, neededBytes: moreBytes });
  }

  /** True when `check` does not throw. */
  fits(reader: Pick<Batch, 'get'>, accountId: string, kind: CountedKind, moreBytes: number): boolean {
    return (
      moreBytes <= 0 ||
      (!this.#isKeptOut(accountId) && usedBytes(reader, accountId, kind) + moreBytes <= this.of(accountId, kind))
    );
  }

  #isKeptOut(accountId: string): boolean {
    return !this.#options.isMarked(accountId) && this.#options.isDiskNearlyFull();
  }
}
