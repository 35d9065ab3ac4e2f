/**
 * Bounds what the system holds of each connection to a listener that only this machine reaches. The HTTP library reads a
 * socket on while each read fills its 512 KiB, and a sender or a proxy on the same machine refills it meanwhile: one turn
 * of the event loop took in a whole upload, and everybody else waited. With a smaller receive buffer (socket(7),
 * SO_RCVBUF) a turn ends after one read. Over a distance it would slow a connection, so other listeners keep the system's.
 *
 * Node.js cannot set this option of a TCP socket. A short-lived process that inherits the listening socket does
 * (`workers/receive-buffer.ts`), and connections accepted from then on have it.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { limits } from '../limits/service.ts';
import { listeningSockets, readTcpTables } from './library/tcp-tables.ts';

const HELPER = new URL('../../workers/receive-buffer.js', import.meta.url);
const OWN_DESCRIPTORS = '/proc/self/fd';

/**
 * Sets the receive buffer of the sockets of this process that listen on a port. Resolves when a process has been started
 * for it; without effect where there is no such table (only Linux has it), or in an executable without a file of Node.js.
 */
export async function boundReceiveBuffer(port: number): Promise<void> {
  if (isSea()) return;
  const sockets = listeningSockets(await readTcpTables(), port);
  if (sockets.size === 0) return;
  try {
    for (const descriptor of readdirSync(OWN_DESCRIPTORS)) {
      if (sockets.has(linkOf(descriptor))) setOn(Number(descriptor));
    }
  } catch {
    // A machine that starts no process, or opens no file, now has the system's buffers.
  }
}

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`${OWN_DESCRIPTORS}/${descriptor}`);
  } catch {
    // Closed since it was listed.
    return '';
  }
}

function setOn(descriptor: number): void {
  const helper = spawn(process.execPath, [fileURLToPath(HELPER), String(limits.receiveBufferBytes)], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  // As above, where it is told later.
  helper.on('error', () => undefined);
  helper.unref();
}
