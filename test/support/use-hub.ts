/** Owns how long a hub lives: for the tests of a file, sound after them, or for a few steps of one test. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type Hub, type HubOptions, startHub } from './hub.ts';

export interface SharedHubOptions extends HubOptions {
  /** The highest level that a line of its log may have at the end (pino: 30 info, 40 warn). Not looked at by default. */
  readonly loudest?: 30 | 40;
  /** The integrity check must find nothing at the end. */
  readonly verified?: true;
}

/** Starts a hub before the tests of this file and ends it after them. It is there from the first `beforeAll` after this one. */
export function useHub({ loudest, verified, ...options }: SharedHubOptions = {}): Hub {
  let started: Hub | undefined;
  const hub = () => {
    if (started === undefined) throw new Error('the hub is there once beforeAll ran');
    return started;
  };
  beforeAll(async () => {
    started = await startHub(options);
  });
  afterAll(async () => {
    const ending = hub();
    const found = verified ? await ending.cli('verify', '--json') : undefined;
    // First of all it ends: a check that fails leaves no process, and all of its log is there.
    await ending.stop();
    if (loudest !== undefined) expect(ending.logs.filter((line) => Number(line['level']) > loudest)).toEqual([]);
    if (found !== undefined) expect(JSON.parse(found.stdout)).toMatchObject({ ok: true, problems: [] });
  });
  return {
    get port() {
      return hub().port;
    },
    get url() {
      return hub().url;
    },
    get dataFolder() {
      return hub().dataFolder;
    },
    get process() {
      return hub().process;
    },
    get logs() {
      return hub().logs;
    },
    stderr: () => hub().stderr(),
    stop: () => hub().stop(),
    kill: () => hub().kill(),
    cli: (...args) => hub().cli(...args),
    waitForLog: (accepts) => hub().waitForLog(accepts),
  };
}

/** Starts a hub for as long as `use` takes; it must stop by itself, and leaves no process whatever fails. */
export async function withHub<T>(options: HubOptions, use: (hub: Hub) => Promise<T>): Promise<T> {
  const hub = await startHub(options);
  try {
    const used = await use(hub);
    expect(await hub.stop()).toBe(0);
    return used;
  } finally {
    await hub.kill();
  }
}
