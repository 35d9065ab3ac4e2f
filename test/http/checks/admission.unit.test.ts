/** The bounds of the front door that are not shared out: exact at their value. */
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import { Admission, type AdmissionOptions } from '../../../src/http/checks/admission.ts';
import { limits } from '../../../src/limits/service.ts';

/** What is refused, or undefined. */
function faultOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.fault;
    throw error;
  }
}

const overloaded = { kind: 'overloaded', retryAfterSeconds: limits.retryAfterSeconds };

function admission(options: Partial<AdmissionOptions> = {}): Admission {
  const roomy = { connectionsMax: 2, streamsMax: 2, inflightBytesMax: 10, loopDelayMsMax: 0, loopDelayMs: () => 0 };
  return new Admission({ ...roomy, ...options });
}

const anybody = () => true;

test('[OPS-18] a connection above the bound is refused and counts until it is closed', () => {
  const door = admission();
  expect([door.connect(anybody), door.connect(anybody), door.connect(anybody)]).toEqual([true, true, false]);
  door.disconnect();
  expect(door.connect(anybody)).toBe(false);
  door.disconnect();
  door.disconnect();
  expect(door.connect(anybody)).toBe(true);
  expect([door.connections, door.refused.connections]).toEqual([2, 2]);
});

test('[NET-11] of the last quarter of the connections each is asked whether it is welcome, and of no other', () => {
  const door = admission({ connectionsMax: 8 });
  const nobody = () => false;
  expect(Array.from({ length: 6 }, () => door.connect(nobody))).toEqual(Array(6).fill(true));
  expect([door.connect(nobody), door.refused.connections]).toEqual([false, 1]);
  expect([door.connect(anybody), door.connect(anybody)]).toEqual([true, false]);
});

test('[OPS-18] the event loop may be as late as the bound, not later; a bound of 0 is none', () => {
  const late = (loopDelayMs: number, loopDelayMsMax: number) =>
    faultOf(() => admission({ loopDelayMs: () => loopDelayMs, loopDelayMsMax }).checkLoop());
  expect(late(500, 500)).toBeUndefined();
  expect(late(500.5, 500)).toMatchObject(overloaded);
  expect(late(1e9, 0)).toBeUndefined();
});

test('[OPS-5] refusals are counted by the bound that was met', () => {
  const one = admission({ loopDelayMs: () => 2, loopDelayMsMax: 1 });
  for (let count = 0; count < 3; count += 1) {
    one.connect(anybody);
    faultOf(() => one.streams.take({}));
  }
  faultOf(() => one.checkLoop());
  faultOf(() => one.checkLoop());
  expect(one.refused).toEqual({ connections: 1, uploads: 0, documents: 0, streams: 1, event_loop: 2 });
});
