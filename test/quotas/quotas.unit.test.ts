/** How much an account may still write: its quota of a kind to the byte, and the part of the disk for marked accounts. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { DiskReserve } from '../../src/quotas/disk-reserve.ts';
import { Quotas, type QuotasOptions } from '../../src/quotas/quotas.ts';
import { accountUsage } from '../../src/quotas/usage.ts';
import type { Key, Table } from '../../src/store/table.ts';
import { refusedWith } from '../support/refused.ts';

const DEFAULTS = { files: 100, history: 200, blobs: 300, documents: 400 };

function quotas(changes: Partial<QuotasOptions> = {}): Quotas {
  return new Quotas({
    defaults: DEFAULTS,
    ownOf: () => ({}),
    isMarked: () => false,
    isDiskNearlyFull: () => false,
    ...changes,
  });
}

describe('[MIR-18] a quota', () => {
  const own = { ownOf: (accountId: string) => (accountId === 'acc' ? { blobs: 10 } : {}) };
  test.each<[title: string, options: Partial<QuotasOptions>, used: number, more: number, over: boolean]>([
    ['all of it', {}, 0, 300, false],
    ['to the byte', {}, 299, 1, false],
    ['one byte more', {}, 300, 1, true],
    ['nothing more needs no room', {}, 999, 0, false],
    ['less needs no room', {}, 999, -1, false],
    ['set by the operator', own, 9, 1, false],
    ['set by the operator, one byte more', own, 10, 1, true],
    ['set by the operator to nothing', { ownOf: () => ({ blobs: 0 }) }, 0, 1, true],
    ['of another kind does not count', { ownOf: () => ({ documents: 0 }) }, 0, 300, false],
  ])('%s', (_, options, used, more, over) => {
    const tried = quotas(options);
    expect(tried.fits(usedOf(used), 'acc', 'blobs', more)).toBe(!over);
    const refused = refusedWith(() => tried.check(usedOf(used), 'acc', 'blobs', more));
    const quotaBytes = tried.of('acc', 'blobs');
    expect(refused).toEqual(
      over ? { kind: 'quota_exceeded', of: 'blobs', quotaBytes, usedBytes: used, neededBytes: more } : undefined,
    );
    expect(tried.refusals).toEqual({ blobs: over ? 1 : 0, files: 0, history: 0, documents: 0, reserve: 0 });
  });

  test.each(Object.entries(DEFAULTS))('of %s is %i unless the operator set another', (kind, bytes) => {
    expect(quotas().of('acc', kind as keyof typeof DEFAULTS)).toBe(bytes);
    expect(quotas({ ownOf: () => ({ [kind]: 7 }) }).of('acc', kind as keyof typeof DEFAULTS)).toBe(7);
  });
});

describe('[OPS-7] the part of the disk for marked accounts', () => {
  test.each<[title: string, isFull: boolean, isMarked: boolean, more: number, refused: boolean]>([
    ['is nobody’s while there is room', false, false, 1, false],
    ['refuses other accounts', true, false, 1, true],
    ['is for marked accounts', true, true, 1, false],
    ['refuses nobody who writes nothing', true, false, 0, false],
  ])('%s', (_, isFull, isMarked, more, refused) => {
    const tried = quotas({ isDiskNearlyFull: () => isFull, isMarked: () => isMarked });
    expect(tried.fits(usedOf(0), 'acc', 'blobs', more)).toBe(!refused);
    expect(refusedWith(() => tried.check(usedOf(0), 'acc', 'blobs', more))).toEqual(
      refused ? { kind: 'storage_reserved' } : undefined,
    );
    expect([tried.isReserved, tried.refusals.reserve]).toEqual([isFull, refused ? 1 : 0]);
  });

  test('the refusals of file sync are counted by kind', () => {
    const tried = quotas();
    tried.noteRefused('files');
    tried.noteRefused('history');
    tried.noteRefused('history');
    expect(tried.refusals).toMatchObject({ files: 1, history: 2 });
  });
});

describe('[OPS-7] the part of the disk for marked accounts, as the disk fills up,', () => {
  const total = 1_000_000_000;
  const state = (usableBytes: number) => ({ usableBytes, totalBytes: total });
  const RESERVE = total * limits.diskReservedShare;
  const ENDS = total * (limits.diskReservedShare + limits.diskReservedSteadyShare);

  test.each<[title: string, usable: number[], reached: boolean]>([
    ['exactly the reserve is free', [RESERVE], false],
    ['a byte less is free', [RESERVE - 1], true],
    ['a refused write leaves its bytes free again', [RESERVE - 1, ENDS - 1], true],
    ['more than those are free', [RESERVE - 1, ENDS], false],
    ['it is used again after that', [RESERVE - 1, ENDS, RESERVE], false],
    ['the system does not tell', [Number.NaN], false],
    ['the system no longer tells', [RESERVE - 1, Number.NaN], false],
  ])('is reached when %s: %j', (_, usable, reached) => {
    let bytes = 0;
    const disk = new DiskReserve({
      usable: () => {
        if (Number.isNaN(bytes)) throw new Error('EIO');
        return state(bytes);
      },
      elapsed: () => 0,
    });
    for (bytes of usable) disk.look();
    expect(disk.isReached()).toBe(reached);
  });

  const SMALL = 60 * 2 ** 20;
  test.each<[title: string, usable: number[], reached: boolean]>([
    ['a refused write of 1 MiB leaves its bytes free again', [SMALL * 0.05 - 1, SMALL * 0.05 + 2 ** 20], true],
    ['less than 4 MiB more are free', [SMALL * 0.05 - 1, SMALL * 0.05 + 4 * 2 ** 20 - 1], true],
    ['4 MiB more are free', [SMALL * 0.05 - 1, SMALL * 0.05 + 4 * 2 ** 20], false],
    ['it was not used before', [SMALL * 0.05], false],
  ])('of a small disk is reached when %s', (_, usable, reached) => {
    let bytes = 0;
    const disk = new DiskReserve({ usable: () => ({ usableBytes: bytes, totalBytes: SMALL }), elapsed: () => 0 });
    for (bytes of usable) disk.look();
    expect(disk.isReached()).toBe(reached);
  });

  test('each time that it is reached is told once', () => {
    let bytes = RESERVE;
    const told: number[] = [];
    const disk = new DiskReserve({ usable: () => state(bytes), elapsed: () => 0 });
    disk.onReached = () => told.push(bytes);
    for (bytes of [RESERVE, RESERVE - 1, RESERVE - 2, ENDS - 1, ENDS, RESERVE - 3]) disk.look();
    expect(told).toEqual([RESERVE - 1, RESERVE - 3]);
  });

  test('the disk is measured again after a while, and writes follow what `/ready` measured', () => {
    let [atMs, usable] = [limits.diskLookedMs, RESERVE];
    const disk = new DiskReserve({ usable: () => state(usable), elapsed: () => atMs });
    expect(disk.isReached()).toBe(false);
    usable = 0;
    atMs = 2 * limits.diskLookedMs - 1;
    expect(disk.isReached()).toBe(false);
    atMs = 2 * limits.diskLookedMs;
    expect(disk.isReached()).toBe(true);
    usable = total;
    expect(disk.look()).toEqual({ ...state(total), isReserved: false });
    expect(disk.isReached()).toBe(false);
  });
});

/** A reader of an account that uses so many bytes of blobs. */
function usedOf(bytes: number) {
  return {
    get: <K extends Key, V>(table: Table<K, V>, key: K): V | undefined => {
      const row: unknown = { bytes };
      return table.name === accountUsage.name && key[1] === 'blobs' ? (row as V) : undefined;
    },
  };
}
