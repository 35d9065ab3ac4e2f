/** What systemd hears from a hub (sd_notify), received on a socket like the one that it gives to a service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { startHub } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Node.js has no datagram sockets in the file system. Each message arrives in one line; a barrier only closes a handle. */
const RECEIVER = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    data, fds, _, _ = socket.recv_fds(s, 4096, 4)
    for fd in fds: os.close(fd)
    print(data.decode().strip().replace('\\n', ' '), flush=True)
`;

import { succeeds } from '../support/succeeds.ts';

const canNotify = succeeds('systemd-notify', '--version') && succeeds('python3', '--version');

async function receiver() {
  const path = join(temporaryFolder(), 'notify');
  const process = spawn('python3', ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void process.kill());
  const heard: string[] = [];
  createInterface({ input: process.stdout }).on('line', (line) => heard.push(line));
  await once(process.stdout, 'data');
  const count = (message: string) => heard.filter((line) => line === message).length;
  return { path, heard, count };
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
};

test.runIf(canNotify)('[OPS-22] the service manager hears that the hub is ready, alive and stopping', async () => {
  const { path, heard, count } = await receiver();
  const hub = await startHub({ env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '300000' } });
  await until(() => count('READY=1') === 1 && count('WATCHDOG=1') >= 3);
  expect(heard.indexOf('READY=1')).toBeLessThan(heard.indexOf('WATCHDOG=1'));
  expect(await hub.stop()).toBe(0);
  await until(() => count('STOPPING=1') === 1);
});

test.runIf(canNotify)(
  '[OPS-22] a hub whose main thread stands still gives no sign of life, and gives them again',
  async () => {
    const { path, count } = await receiver();
    const hub = await startHub({ env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '300000' } });
    await until(() => count('WATCHDOG=1') >= 1);
    hub.process.kill('SIGSTOP');
    // What the relay had been told before may still arrive.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const before = count('WATCHDOG=1');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(count('WATCHDOG=1')).toBe(before);
    hub.process.kill('SIGCONT');
    await until(() => count('WATCHDOG=1') > before);
    expect(await hub.stop()).toBe(0);
  },
);

test('[OPS-22] a hub whose messages to the service manager cannot be sent serves all the same', async () => {
  const hub = await startHub({ env: { NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '300000' } });
  expect((await fetch(`${hub.url}/health`)).status).toBe(200);
  expect(await hub.stop()).toBe(0);
});
