/** How many bytes the data file still accepts, to the byte, also when the disk is below its reserve. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { Room } from '../../src/store/room.ts';
import { refusedWith } from '../support/refused.ts';

const RESERVE = limits.diskFreeBytesMin;

describe('[OPS-2] room for bytes', () => {
  type Row = [title: string, free: number, unused: number, taken: number, bytes: number, fits: boolean];
  test.each<Row>([
    ['all that the disk has above its reserve', RESERVE + 100, 0, 0, 100, true],
    ['one byte more', RESERVE + 100, 0, 0, 101, false],
    ['what the file itself has unused', RESERVE + 100, 50, 0, 150, true],
    ['one byte more than both', RESERVE + 100, 50, 0, 151, false],
    ['nothing at the reserve', RESERVE, 0, 0, 1, false],
    ['nothing takes no room at the reserve', RESERVE, 0, 0, 0, true],
    ['the file is reused below the reserve', RESERVE - 10, 50, 0, 40, true],
    ['not for what the reserve lacks', RESERVE - 10, 50, 0, 41, false],
    ['what others are writing is taken', RESERVE + 100, 0, 60, 40, true],
    ['to the byte', RESERVE + 100, 0, 60, 41, false],
  ])('%s', (_, free, unused, taken, bytes, fits) => {
    let available = RESERVE + 1e6;
    const room = new Room({ freeBytes: () => available, unusedBytes: () => unused, elapsed: () => 0 });
    room.take(taken);
    available = free;
    expect(room.look()(bytes)).toBe(fits);
    // A write of nothing is not refused below the reserve.
    expect(bytes <= Math.max(0, room.usableBytes(bytes))).toBe(fits);
    let told = 0;
    room.onRefused = () => {
      told += 1;
    };
    expect(refusedWith(() => room.take(bytes))).toEqual(fits ? undefined : { kind: 'storage_full' });
    expect(told).toBe(fits ? 0 : 1);
  });

  test('the file is looked at once, and only when the disk alone does not suffice', () => {
    let looks = 0;
    const room = new Room({
      freeBytes: () => RESERVE + 10,
      unusedBytes: () => {
        looks += 1;
        return 5;
      },
      elapsed: () => 0,
    });
    const fits = room.look();
    expect([fits(10), room.usableBytes(10), looks]).toEqual([true, 10, 0]);
    expect([fits(15), fits(16), looks]).toEqual([true, false, 1]);
    expect([room.usableBytes(11), looks]).toEqual([15, 2]);
  });
});

describe('[OPS-2] room that bytes take', () => {
  test('what was taken is given back', () => {
    const room = new Room({ freeBytes: () => RESERVE + 10, unusedBytes: () => 0, elapsed: () => 0 });
    const release = room.take(10);
    expect(room.look()(1)).toBe(false);
    release();
    expect(room.look()(10)).toBe(true);
  });

  test.each([
    ['a moment later it counts', limits.diskPlentyBytes, limits.diskLookMs - 1, 1],
    ['not for longer', limits.diskPlentyBytes, limits.diskLookMs, 2],
    ['not when the disk had less', limits.diskPlentyBytes - 1, 1, 2],
  ])('a look at a disk with plenty: %s', (_, free, ms, looks) => {
    let looked = 0;
    let nowMs = 1000;
    const freeBytes = () => {
      looked += 1;
      return looked === 1 ? free : RESERVE;
    };
    const room = new Room({ freeBytes, unusedBytes: () => 0, elapsed: () => nowMs });
    const release = room.take(10);
    nowMs += ms;
    expect(room.look()(free - RESERVE - 10)).toBe(looks === 1);
    expect(looked).toBe(looks);
    // What is being written is known at any moment.
    expect(room.look()(free - RESERVE - 9)).toBe(false);
    release();
  });
});
