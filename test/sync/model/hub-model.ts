/**
 * What a hub must answer, kept in memory and decided by the rules alone: the model behind the histories of file sync. It
 * counts nothing along: totals are sums over what it holds, so that the hub's counters are held against a recount.
 */
import { gitShaOf, sha256Of } from '../../support/sync.ts';
import { isNewer, isTooFarAhead } from './clock.ts';

export const QUOTA_BYTES = 200_000;
const PENDING_PER_PATH_MAX = 10;

/** A push as a device means it. */
export interface Push {
  readonly path: string;
  /** The path that the file had: a rename. */
  readonly from: string | undefined;
  /** Undefined: a delete. */
  readonly content: string | undefined;
  /** Undefined: none is said; empty: there must be no file. */
  readonly base: string | undefined;
  readonly hlc: string;
  readonly device: string;
  readonly resolves: string | undefined;
}

export interface Version {
  readonly seq: number;
  readonly path: string;
  readonly deleted: boolean;
  /** Of a tombstone: of what was deleted. */
  readonly sha: string;
  readonly gitSha: string;
  readonly bytes: number;
  readonly hlc: string;
  readonly device: string;
  readonly storedAt: string;
  /** The other path that the file had before this version. */
  readonly from?: string;
}

export interface Conflict {
  readonly id: string;
  /** As it was spelled. */
  readonly path: string;
  readonly device: string;
  /** Null: a refused delete. */
  readonly sha: string | null;
  readonly bytes: number;
  status: 'pending' | 'resolved' | 'superseded' | 'dismissed';
}

export type Expected =
  | { readonly kind: 'accept'; readonly status: string; readonly ownClock: boolean }
  | { readonly kind: 'unchanged' }
  /** `id` undefined: a new conflict. */
  | { readonly kind: 'conflict'; readonly at: string; readonly id: string | undefined }
  | { readonly kind: 'full' }
  | { readonly kind: 'quota' }
  | { readonly kind: 'invalid'; readonly field: string }
  | { readonly kind: 'not_found' };

export const nfc = (path: string): string => path.normalize('NFC');
export const fold = (path: string): string => nfc(nfc(path).toUpperCase().toLowerCase());

const isProtected = (path: string): boolean => /(^|\/)(CLAUDE\.md$|\.github\/)/i.test(path);

export class HubModel {
  /** Versions by folded path, oldest first. */
  readonly files = new Map<string, Version[]>();
  readonly conflicts = new Map<string, Conflict>();
  seq = 0;
  storedAt = '';
  /** The highest clock that the hub made or adopted. */
  hlc: string | undefined;

  newest(path: string): Version | undefined {
    return this.files.get(fold(path))?.at(-1);
  }

  live(path: string): Version | undefined {
    const newest = this.newest(path);
    return newest?.deleted === false ? newest : undefined;
  }

  /** Every live file. */
  liveFiles(): Version[] {
    return [...this.files.values()].flatMap((versions) => versions.slice(-1)).filter(({ deleted }) => !deleted);
  }

  pendingOf(path: string): Conflict[] {
    return [...this.conflicts.values()].filter((one) => fold(one.path) === fold(path) && one.status === 'pending');
  }

  usage(): number {
    const pending = [...this.conflicts.values()].filter(({ status }) => status === 'pending');
    return sum(this.liveFiles()) + sum(pending);
  }

  /** SYN-3, in its order. */
  expect(push: Push, nowMs: number): Expected {
    if (!this.#isOfItsPath(push)) return { kind: 'invalid', field: 'resolves' };
    if (push.from !== undefined) return this.#expectRename(push, push.from, nowMs);
    const newest = this.newest(push.path);
    const live = this.live(push.path);
    if (live !== undefined && live.path !== nfc(push.path)) return { kind: 'invalid', field: 'path' };
    if (live === undefined && push.content !== undefined && this.clashes(push.path))
      return { kind: 'invalid', field: 'path' };
    if (this.#isOverQuota(push, this.settledBy(push, push.path), live?.bytes ?? 0)) return { kind: 'quota' };
    if (push.content === undefined) return this.#expectDelete(push, nowMs);
    const sha = sha256Of(push.content);
    if (live?.sha === sha) return { kind: 'unchanged' };
    const status = live === undefined ? 'created' : 'updated';
    if (push.base !== undefined) {
      // Decided without a look at any clock.
      if (isBase(push.base, live)) return this.#accept(push, status, nowMs, [newest]);
      return this.#isMixedUp(push) ? { kind: 'invalid', field: 'base_sha' } : this.#keep(push, push.path);
    }
    if (live !== undefined && isProtected(push.path)) return { kind: 'invalid', field: 'base_sha' };
    if (newest === undefined) return this.#accept(push, status, nowMs, []);
    if (isTooFarAhead(push.hlc, nowMs)) return { kind: 'invalid', field: 'hlc' };
    const comesBack =
      newest.deleted && this.files.get(fold(push.path))?.some((version) => version.sha === sha) === true;
    if (isNewer(push.hlc, newest.hlc) && !comesBack) return this.#accept(push, status, nowMs, [newest]);
    return this.#keep(push, push.path);
  }

  /** A conflict that a push names must be one of the path, or of the path that a rename leaves. */
  #isOfItsPath({ path, from, resolves }: Push): boolean {
    if (resolves === undefined) return true;
    const of = fold(this.conflicts.get(resolves)?.path ?? '');
    return of === fold(path) || (from !== undefined && of === fold(from));
  }

  #expectDelete(push: Push, nowMs: number): Expected {
    const live = this.live(push.path);
    if (live === undefined) return this.newest(push.path) === undefined ? { kind: 'not_found' } : { kind: 'unchanged' };
    if (push.base === undefined) return { kind: 'invalid', field: 'base_sha' };
    if (isBase(push.base, live)) return this.#accept(push, 'deleted', nowMs, [live]);
    return this.#isMixedUp(push) ? { kind: 'invalid', field: 'base_sha' } : this.#keep(push, push.path);
  }

  #expectRename(push: Push, from: string, nowMs: number): Expected {
    const sha = sha256Of(push.content ?? '');
    const [left, there] = [this.live(from), this.live(push.path)];
    const isRespelling = fold(from) === fold(push.path);
    const isDone = there?.path === nfc(push.path) && (isRespelling || left === undefined);
    if (isDone && there.sha === sha) return { kind: 'unchanged' };
    if (left === undefined) return { kind: 'not_found' };
    if (push.base === undefined || push.base === '') return { kind: 'invalid', field: 'base_sha' };
    const settled = [from, ...(isRespelling ? [] : [push.path])].flatMap((path) => this.settledBy(push, path));
    const freed = left.bytes + (isRespelling ? 0 : (there?.bytes ?? 0));
    if (this.#isOverQuota(push, settled, freed)) return { kind: 'quota' };
    if (!isBase(push.base, left)) return this.#keep(push, from);
    if (!isRespelling && there === undefined && this.clashes(push.path, from))
      return { kind: 'invalid', field: 'path' };
    if (!isRespelling && there !== undefined) {
      if (there.path !== nfc(push.path)) return { kind: 'invalid', field: 'path' };
      if (there.sha !== sha) return this.#keep(push, push.path);
    }
    return this.#accept(push, 'renamed', nowMs, [left, this.newest(push.path)]);
  }

  #accept(push: Push, status: string, nowMs: number, before: readonly (Version | undefined)[]): Expected {
    const isAbove = before.every((version) => version === undefined || isNewer(push.hlc, version.hlc));
    return { kind: 'accept', status, ownClock: isAbove && !isTooFarAhead(push.hlc, nowMs) };
  }

  /** How the bytes of a refused push are kept: once for each device and content, ten for each path, within the quota. */
  #keep(push: Push, at: string): Expected {
    const sha = push.content === undefined ? null : sha256Of(push.content);
    const pending = this.pendingOf(at);
    const own = pending.filter(({ device }) => device === push.device);
    const known = own.find((conflict) => conflict.sha === sha);
    if (known !== undefined) return { kind: 'conflict', at, id: known.id };
    if (pending.length - own.length >= PENDING_PER_PATH_MAX) return { kind: 'full' };
    if (this.#isOverQuota(push, own, 0)) return { kind: 'quota' };
    return { kind: 'conflict', at, id: undefined };
  }

  #isOverQuota(push: Push, settled: readonly Conflict[], freedBytes: number): boolean {
    const grown = Buffer.byteLength(push.content ?? '') - freedBytes - sum(settled);
    return grown > 0 && this.usage() + grown > QUOTA_BYTES;
  }

  /** Pending conflicts that a push ends when it is taken. */
  settledBy(push: Push, path: string): Conflict[] {
    const sha = push.content === undefined ? undefined : sha256Of(push.content);
    return this.pendingOf(path).filter(
      (conflict) => conflict.id === push.resolves || conflict.device === push.device || conflict.sha === sha,
    );
  }

  /** True when a base that no version of the path has is what another file is now. */
  #isMixedUp({ path, base }: Push): boolean {
    const has = (version: Version) => version.sha === base || version.gitSha === base;
    const own = this.files.get(fold(path)) ?? [];
    return (
      base !== '' && !own.some(has) && this.liveFiles().some((file) => fold(file.path) !== fold(path) && has(file))
    );
  }

  /** True when a new file at the path would be a folder of others, or stand below a file. `leaving` is about to go. */
  clashes(path: string, leaving?: string): boolean {
    const folded = fold(path);
    const others = this.liveFiles()
      .map((file) => fold(file.path))
      .filter((other) => leaving === undefined || other !== fold(leaving));
    return others.some((other) => other.startsWith(`${folded}/`) || folded.startsWith(`${other}/`));
  }

  /** The versions of a path, and of the paths that its file had before, newest first. */
  lineageOf(path: string): Version[] {
    const found = new Set<Version>();
    const take = (of: string, below: number) => {
      for (const version of this.files.get(fold(of)) ?? []) {
        if (version.seq >= below || found.has(version)) continue;
        found.add(version);
        // The tombstone of a rename is not a version of the file.
        if (version.from !== undefined) take(version.from, version.seq - 1);
      }
    };
    take(path, Infinity);
    return [...found].sort((a, b) => b.seq - a.seq);
  }

  /** Adds what the hub says that it stored. */
  store(version: Omit<Version, 'gitSha' | 'bytes' | 'sha'>, content: string | undefined): void {
    const versions = this.files.get(fold(version.path)) ?? [];
    const before = versions.at(-1);
    const of =
      content === undefined
        ? { sha: before?.sha ?? '', gitSha: before?.gitSha ?? '', bytes: 0 }
        : { sha: sha256Of(content), gitSha: gitShaOf(content), bytes: Buffer.byteLength(content) };
    this.files.set(fold(version.path), [...versions, { ...version, ...of }]);
    this.seq = version.seq;
    this.storedAt = version.storedAt;
    if (this.hlc === undefined || isNewer(version.hlc, this.hlc)) this.hlc = version.hlc;
  }

  /** Whether a clock is one that the hub could have made now: above all that it has seen. */
  isRisen(hlc: string): boolean {
    return this.hlc === undefined || isNewer(hlc, this.hlc);
  }

  settle(conflicts: readonly Conflict[], push: Push): void {
    for (const conflict of conflicts) {
      const isResolved =
        conflict.id === push.resolves ||
        (push.content !== undefined && conflict.sha === sha256Of(push.content)) ||
        (conflict.device === push.device && push.base !== undefined);
      conflict.status = isResolved ? 'resolved' : 'superseded';
    }
  }
}

function isBase(base: string, live: Version | undefined): boolean {
  return base === '' ? live === undefined : live !== undefined && (base === live.sha || base === live.gitSha);
}

function sum(rows: readonly { readonly bytes: number }[]): number {
  return rows.reduce((total, { bytes }) => total + bytes, 0);
}
