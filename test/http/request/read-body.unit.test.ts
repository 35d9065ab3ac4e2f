/** Bodies whose sink has no room, over a socket that the test owns. */
import { expect, test } from 'vitest';
import { IncomingBody } from '../../../src/http/request/body.ts';
import { readBody } from '../../../src/http/request/read-body.ts';

const SMALL = 1000;

/** A body whose sink has no room between `take` and `give`. */
function world() {
  let bring: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
  let room: Promise<void> | undefined;
  let give = () => {};
  const socket = {
    isPaused: false,
    pauses: 0,
    pause: () => {
      socket.isPaused = true;
      socket.pauses += 1;
    },
    resume: () => {
      socket.isPaused = false;
    },
    onData: (handler: typeof bring) => {
      bring = handler;
    },
  };
  const body = new IncomingBody(Number.POSITIVE_INFINITY);
  void body.pipe(
    () => {},
    () => room,
  );
  const reading = readBody(socket, body, (bytes, isLast) => body.receive(bytes, isLast));
  const take = () => {
    room = new Promise((resolve) => {
      give = () => {
        room = undefined;
        resolve();
      };
    });
  };
  return {
    socket,
    reading,
    take,
    give: async () => {
      give();
      await new Promise((resolve) => setImmediate(resolve));
    },
    bring: (bytes: number, isLast = false) => bring(new ArrayBuffer(bytes), isLast),
  };
}

test('[MIR-17] a socket is paused while the sink of its body has no room', async () => {
  const { socket, take, give, bring } = world();
  bring(SMALL);
  expect(socket.isPaused).toBe(false);
  take();
  bring(SMALL);
  expect(socket.isPaused).toBe(true);
  await give();
  expect(socket.isPaused).toBe(false);
});

test('[MIR-17] bytes that arrive at a paused socket pause it again, because they restart its timeout', async () => {
  const { socket, take, give, bring } = world();
  take();
  bring(SMALL);
  const before = socket.pauses;
  bring(SMALL);
  expect(socket.pauses).toBeGreaterThan(before);
  await give();
  expect(socket.isPaused).toBe(false);
});

test('[MIR-17] a whole body leaves the socket paused until the answer', async () => {
  const { socket, reading, take, give, bring } = world();
  take();
  bring(SMALL);
  bring(SMALL, true);
  await give();
  expect(socket.isPaused).toBe(true);
  reading.leave();
  expect(socket.isPaused).toBe(false);
});

test('[MIR-17] an answer ends the wait, and room that comes later touches no socket', async () => {
  const { socket, reading, take, give, bring } = world();
  take();
  bring(SMALL);
  reading.leave();
  expect(socket.isPaused).toBe(false);
  socket.isPaused = true;
  await give();
  expect(socket.isPaused).toBe(true);
});

test('[MIR-17] room that comes after a socket was closed touches nothing', async () => {
  const { socket, reading, take, give, bring } = world();
  take();
  bring(SMALL);
  reading.forget();
  await give();
  expect(socket.isPaused).toBe(true);
});
