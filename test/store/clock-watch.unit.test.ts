/** When a clock is believed. */
import { expect, test } from 'vitest';
import { openLog } from '../../src/common/log.ts';
import { ClockWatch } from '../../src/store/meta/clock-watch.ts';
import { metaTables } from '../../src/store/meta/meta.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOUR = 3_600_000;

test('[OPS-12] a clock is believed while it goes on, waits after a jump, and is believed again at once or after a day', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: metaTables });
  const time = { wall: 1_000_000 * HOUR, monotonic: 0 };
  const pass = (hours: number, jumpHours = 0) => {
    time.monotonic += hours * HOUR;
    time.wall += (hours + jumpHours) * HOUR;
  };
  const open = () =>
    new ClockWatch({ store, log: openLog('silent').log, now: () => time.wall, elapsed: () => time.monotonic });
  const watch = open();
  expect(watch.isRight()).toBe(true);
  await watch.note();
  pass(100);
  expect(watch.isRight()).toBe(true);
  pass(0, 23);
  expect(watch.isRight()).toBe(true);
  pass(1, 10_000);
  expect(watch.isRight()).toBe(false);
  pass(1, -10_000);
  expect(watch.isRight()).toBe(true);
  pass(0, -500);
  expect(watch.isRight()).toBe(true);
  pass(0, 500);
  expect(watch.isRight()).toBe(true);
  await watch.note();
  pass(0, 30);
  const later = open();
  expect(later.isRight()).toBe(false);
  pass(23);
  expect(later.isRight()).toBe(false);
  pass(2);
  expect(later.isRight()).toBe(true);
  await store.close();
});
