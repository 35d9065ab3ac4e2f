/** What the system holds of a connection while the hub does not read it. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { type Credential, mirrorAccount, randomCommit, uploadHeaders } from '../support/mirror.ts';
import { head, rawClient } from '../support/raw.ts';
import { useHub } from '../support/use-hub.ts';

const MiB = 1024 * 1024;
/** Of an upload after which the system trusts a connection with many MiB, unless they are bounded. */
const BODY_BYTES = 32 * MiB;
/** The system counts the space of packets, and may hold up to twice the bytes asked for. */
const HELD_BYTES_MAX = 2 * limits.receiveBufferBytes;

const hub = useHub();

test('[NET-17] the system holds little of a connection of this machine, also after a large upload', async () => {
  const owner = await mirrorAccount(hub);
  // A connection that comes in the first moments of a hub may be from before the bound.
  await expect.poll(() => heldAfterUpload(owner), { timeout: 60_000 }).toBeLessThanOrEqual(HELD_BYTES_MAX);
});

/** Uploads, then again while the hub stands still: resolves with the bytes of the second that the system holds. */
async function heldAfterUpload(owner: Credential): Promise<number> {
  const body = randomBytes(BODY_BYTES);
  const headers = { ...uploadHeaders(owner, randomCommit(), body), 'Content-Length': String(body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const upload = head('POST /api/cert_mirror HTTP/1.1', lines);
  const client = await rawClient(hub.port);
  client.send(upload);
  client.send(body);
  expect((await client.received(1)).map(({ status }) => status)).toEqual([200]);
  hub.process.kill('SIGSTOP');
  let held: number;
  try {
    client.send(upload);
    client.send(body);
    held = await settled(() => bytesHeld(client.socket, hub.port));
  } finally {
    hub.process.kill('SIGCONT');
  }
  expect((await client.received(2)).map(({ status }) => status)).toEqual([200, 200]);
  client.vanish();
  return held;
}

/** Resolves with a number once it has stayed the same for a while. */
async function settled(read: () => number): Promise<number> {
  let [last, same] = [0, 0];
  while (same < 10) {
    await sleep(50);
    const next = read();
    same = next === last && next > 0 ? same + 1 : 0;
    last = next;
  }
  return last;
}

/** Bytes that the hub's side of a connection has received and not read (`rx_queue` of proc_net_tcp). */
function bytesHeld({ localPort = 0 }: Socket, port: number): number {
  const of = (at: number) => `0100007F:${at.toString(16).toUpperCase().padStart(4, '0')}`;
  const row = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .find((line) => line.includes(`: ${of(port)} ${of(localPort)} `));
  const [, , , , queues = ''] = row?.trimStart().split(/ +/) ?? [];
  return Number.parseInt(queues.split(':')[1] ?? '', 16);
}
