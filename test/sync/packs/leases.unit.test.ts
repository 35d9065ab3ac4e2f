/** Pack leases: a replaced pack goes once, as soon as no stream that began before it was replaced is left. */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PackLeases } from '../../../src/sync/packs/leases.ts';
import { seed } from '../../support/seed.ts';

test('[SYN-20] without a stream a replaced pack goes at once, and never within the call that replaced it', async () => {
  const freed: number[] = [];
  const leases = new PackLeases((packIds) => freed.push(...packIds));
  leases.retire([1, 2]);
  expect(freed).toEqual([]);
  await setImmediate();
  expect(freed).toEqual([1, 2]);
  leases.retire([]);
  await setImmediate();
  expect(freed).toEqual([1, 2]);
});

test('[SYN-20] a stream keeps what was replaced after it began, and nothing that was replaced before', async () => {
  const freed: number[] = [];
  const leases = new PackLeases((packIds) => freed.push(...packIds));
  const early = leases.begin();
  leases.retire([1]);
  const late = leases.begin();
  leases.retire([2]);
  early();
  await setImmediate();
  expect(freed).toEqual([1]);
  early();
  await setImmediate();
  expect(freed).toEqual([1]);
  late();
  await setImmediate();
  expect(freed).toEqual([1, 2]);
});

type Step = { readonly kind: 'begin' | 'end' | 'endTwice' | 'retire'; readonly choice: number };

const history = fc.array(
  fc.record<Step>({ kind: fc.constantFrom('begin', 'end', 'endTwice', 'retire'), choice: fc.nat(1000) }),
  { maxLength: 60 },
);

test(`[SYN-20] in any history each pack goes exactly once, at the first moment in which nobody may read it (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const freed: number[] = [];
      const leases = new PackLeases((packIds) => freed.push(...packIds));
      let streams: { readonly began: number; readonly end: () => void }[] = [];
      const retired: { readonly packId: number; readonly at: number }[] = [];
      for (const [at, { kind, choice }] of steps.entries()) {
        const stream = streams[choice % Math.max(1, streams.length)];
        if (kind === 'begin') streams.push({ began: at, end: leases.begin() });
        else if (kind === 'retire') {
          retired.push({ packId: at, at });
          leases.retire([at]);
        } else if (stream !== undefined) {
          streams = streams.filter((each) => each !== stream);
          stream.end();
          if (kind === 'endTwice') stream.end();
        }
        await setImmediate();
        const readable = (retiredAt: number) => streams.some(({ began }) => began < retiredAt);
        const gone = retired.filter((each) => !readable(each.at)).map(({ packId }) => packId);
        expect(freed.toSorted((a, b) => a - b)).toEqual(gone);
      }
    }),
    { seed, numRuns: 200 },
  );
});
