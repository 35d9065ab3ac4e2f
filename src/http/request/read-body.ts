/** Reads a body from its socket, and pauses the socket while the sink of the body has no room. */
import type { IncomingBody } from './body.ts';

/** The part of the library's response that reads. */
interface ReadSocket {
  pause(): void;
  resume(): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
}

/** One body being read. */
export interface Reading {
  /** Lets the library discard the rest of the body. Must be called before the answer. */
  leave(): void;
  /** Must be called when the socket was closed: the library allows no call afterwards. */
  forget(): void;
}

/** Passes the chunks of a body to `receive`. The bytes are valid only during the call. */
export function readBody(
  socket: ReadSocket,
  body: IncomingBody,
  receive: (bytes: Uint8Array, isLast: boolean) => void,
): Reading {
  let isPaused = false;
  let isOver = false;
  const resume = () => {
    if (isPaused && !isOver) socket.resume();
    isPaused = false;
  };
  socket.onData((chunk, isLast) => {
    receive(new Uint8Array(chunk), isLast);
    if (isOver || isLast) return;
    if (isPaused) {
      // The library still reads bytes that have arrived, and they restart its timeout of ten seconds. Pausing stops that.
      socket.pause();
      return;
    }
    const { room } = body;
    if (room === undefined) return;
    isPaused = true;
    socket.pause();
    void room.then(() => {
      // To resume starts the timeout. A whole body has nothing to read, and its handler may take longer.
      if (!body.ended) resume();
    });
  });
  return {
    leave: () => {
      resume();
      isOver = true;
    },
    forget: () => {
      isOver = true;
    },
  };
}
