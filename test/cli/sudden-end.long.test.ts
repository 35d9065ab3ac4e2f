/** A hub whose main thread throws an error that belongs to no request, while it writes. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { callTool, structured, structuredOf } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const THROWS = fileURLToPath(new URL('../support/throw-on-signal.mjs', import.meta.url));
const ROUNDS = Number(process.env['SUDDEN_ENDS'] ?? 20);
const CALLERS = 32;

/** Makes tasks until the hub is gone, and notes what it confirmed. */
async function makeTasks(hub: Hub, key: string, confirmed: number[]): Promise<void> {
  for (let number = 0; ; number += 1) {
    try {
      const task = await structured<{ task: { id: number } }>(hub, 'create_task', { content: `task ${number}` }, key);
      confirmed.push(task.task.id);
    } catch {
      return;
    }
  }
}

test(
  '[OPS-21] a hub that meets an unexpected error under load ends with a word, and has all that it confirmed',
  async () => {
    const dataFolder = temporaryFolder();
    const confirmed: number[] = [];
    let key: string | undefined;
    for (let round = 0; round < ROUNDS; round += 1) {
      const hub = await startHub({ dataFolder, env: { NODE_OPTIONS: `--import=${THROWS}` } });
      key ??= (await account(hub)).mcp_key;
      const ended = once(hub.process, 'exit');
      const before = confirmed.length;
      const callers = Array.from({ length: CALLERS }, () => makeTasks(hub, String(key), confirmed));
      while (confirmed.length < before + CALLERS) await new Promise((resolve) => setTimeout(resolve, 10));
      hub.process.kill('SIGUSR2');
      expect(await ended).toEqual([null, 'SIGKILL']);
      await Promise.all(callers);
      const last = await hub.waitForLog(({ level }) => level === 60);
      expect(last).toMatchObject({
        msg: 'an unexpected error outside any request',
        err: { message: 'thrown by a test' },
      });
    }
    const hub = await startHub({ dataFolder });
    for (const id of confirmed) {
      const reply = await callTool(hub, 'update_task', { id, is_important: true }, key);
      expect(structuredOf(reply)).toMatchObject({ task: { id, is_important: true } });
    }
    expect(await hub.stop()).toBe(0);
  },
  15_000 * ROUNDS,
);
