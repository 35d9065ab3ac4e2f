/** Webhooks over kills of the hub: at least once, in order, under stable ids; what is refused by default; the command line. */
import { randomInt } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { structured, withKey } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, runCairn, startHub } from '../../support/hub.ts';
import { PATIENTLY, Receiver } from '../../support/receiver.ts';
import { newDevice } from '../../support/sync.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROUNDS = 4;
const EVENTS = 15;

test('[EVENT-3] over kills between, each event arrives at least once, in order, and always under the same id', async () => {
  const dataFolder = temporaryFolder();
  const receiver = await Receiver.open();
  const env = { CAIRN_WEBHOOKS: 'private' };
  let hub: Hub = await startHub({ dataFolder, env });
  try {
    const { key } = await newDevice(hub, 'laptop');
    const headers = { ...withKey(key), 'Content-Type': 'application/json' };
    const body = JSON.stringify({ url: receiver.url, kinds: ['task'] });
    const made = await call(hub, '/api/webhooks', { method: 'POST', headers, body });
    receiver.secret = (made.json() as { secret: string }).secret;
    const contents: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let at = 0; at < EVENTS; at += 1) {
        const content = `task ${round}.${at}`;
        await structured(hub, 'create_task', { content }, key);
        contents.push(content);
      }
      await new Promise((resolve) => setTimeout(resolve, randomInt(5, 60)));
      await hub.kill();
      hub = await startHub({ dataFolder, env });
    }
    await vi.waitFor(() => expect(receiver.taken.at(-1)?.event.name).toBe(contents.at(-1)), PATIENTLY);
    const names = receiver.taken.map(({ event }) => event.name);
    // A repeat is one of the event that was sent last before a kill.
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual(contents);
    const ids = new Map(receiver.taken.map(({ event, id }) => [event.name, id]));
    expect(receiver.taken.filter(({ event, id }) => ids.get(event.name) !== id)).toEqual([]);
    expect(new Set(ids.values()).size).toBe(contents.length);
    expect(receiver.received.every(({ signed }) => signed === 1)).toBe(true);
    expect(await hub.stop()).toBe(0);
  } finally {
    await hub.kill();
    receiver.close();
  }
});

test('[EVENT-3] by default no address of the machine or its network is asked, by name or by number', async () => {
  await Promise.all([
    strictly({}, /reachable on the internet|https address/),
    strictly({ CAIRN_WEBHOOKS: 'off' }, /off/),
  ]);
});

async function strictly(env: Record<string, string>, sentence: RegExp) {
  const receiver = await Receiver.open();
  const strict: Hub = await startHub({ env });
  try {
    const who = await newDevice(strict, 'strict');
    for (const url of [
      receiver.url,
      receiver.url.replace('http:', 'https:'),
      'https://localhost:1/',
      'https://[::1]/',
    ]) {
      const body = JSON.stringify({ url });
      const headers = { ...withKey(who.key), 'Content-Type': 'application/json' };
      const refused = await call(strict, '/api/webhooks', { method: 'POST', headers, body });
      expect([url, refused.status, refused.text]).toEqual([url, 422, expect.stringMatching(sentence)]);
    }
    expect(await strict.stop()).toBe(0);
    expect(receiver.received).toEqual([]);
  } finally {
    await strict.kill();
    receiver.close();
  }
}

test('[EVENT-3, CLI-1] cairn webhooks adds, lists, rotates, turns on and removes', async () => {
  const receiver = await Receiver.open();
  const hub = await startHub({ env: { CAIRN_WEBHOOKS: 'private' } });
  try {
    const { key } = await newDevice(hub, 'laptop');
    const environment = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() };
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await runCairn(['webhooks', ...words], environment);
      expect([words, code, stderr]).toEqual([words, 0, '']);
      return stdout;
    };
    expect(await run()).toContain('There is no webhook');
    const added = JSON.parse(await run('add', receiver.url, '--kinds', 'task, paper', '--json')) as {
      readonly id: string;
      readonly secret: string;
    };
    receiver.secret = added.secret;
    await structured(hub, 'create_task', { content: 'heard' }, key);
    await vi.waitFor(() => expect(receiver.received.map(({ signed }) => signed)).toEqual([1]), PATIENTLY);
    expect(await run()).toMatch(new RegExp(`${added.id} .*task,paper\n`));
    expect(await run('rotate', added.id)).toMatch(/whsec_/);
    expect(await run('enable', added.id)).toContain('is on');
    expect(await run('remove', added.id)).toContain('Removed');
    const { code, stderr } = await runCairn(['webhooks', 'remove', added.id], environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no such webhook')]);
    expect(await hub.stop()).toBe(0);
  } finally {
    await hub.kill();
    receiver.close();
  }
});
