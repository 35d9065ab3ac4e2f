/**
 * Sets the receive buffer (SO_RCVBUF) of the socket that it inherits as descriptor 3, then ends: a separate process, for
 * Node.js sets it of UDP sockets only, and their handle takes any socket, but closes what it took. usage: node receive-buffer.js BYTES
 */
import { createSocket } from 'node:dgram';

/** The part of a handle of Node.js that its types omit. */
interface Handle {
  open(descriptor: number): number;
  bufferSize(bytes: number, ofReceived: boolean, told: object): number | undefined;
}

const INHERITED = 3;

const socket = createSocket('udp4');
const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
const { handle } = (socket as unknown as Record<symbol, { readonly handle: Handle }>)[state ?? Symbol.iterator] ?? {};
if (handle?.open(INHERITED) !== 0) process.exit(1);
process.exit(handle.bufferSize(Number(process.argv[2]), true, {}) === undefined ? 1 : 0);
