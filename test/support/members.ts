/** Members of one hub, as processes that share a log in a folder. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { limits } from '../../src/limits/service.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { LogFollower } from '../../src/replication/members/follower.ts';
import { replicationTables } from '../../src/store/logged/place.ts';
import { ReplicaFile } from '../../src/store/logged/replica.ts';
import { type Hub, type HubOptions, startHub } from './hub.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Short, so that a test of a loss does not wait long. On a machine whose members wait for a processor: 3. */
export const LEASE_SECONDS = Number(process.env['MEMBER_LEASE_SECONDS'] ?? 1);
const MASTER_KEY = '5a'.repeat(32);

export interface MemberOptions extends HubOptions {
  readonly name: string;
  /** A folder of the log, or its whole URL. */
  readonly log: string;
  readonly port?: number;
  readonly clock?: ProcessClock;
}

/** What `/health` says of a member. */
export interface ShownMember {
  readonly name: string;
  readonly state: string;
  readonly position: number;
  readonly behind: number;
  readonly owner: string | null;
  readonly unlogged_ms: number;
  readonly set_aside: number;
}

/** A new folder for a log. */
export const newLog = (): string => join(temporaryFolder(), 'log');

/** The settings of a member. */
const memberEnvironment = ({ name, log, port = 0 }: MemberOptions): Record<string, string> => ({
  CAIRN_LOG: log.includes('://') ? log : `file://${log}`,
  CAIRN_MEMBER: name,
  CAIRN_MASTER_KEY: MASTER_KEY,
  CAIRN_LEASE_SECONDS: String(LEASE_SECONDS),
  CAIRN_PORT: String(port),
});

/** Starts a member; it answers probes then. */
export async function startMember(options: MemberOptions): Promise<Hub> {
  const env = { ...memberEnvironment(options), ...options.env };
  return await startHub({ ...options, env: { ...env, ...options.clock?.environment } });
}

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** Whether this machine can set the wall clock of one process. */
export const canSetClocks = existsSync(FAKETIME);

/** The wall clock of one process, which can be set while it runs. Its monotonic clock stays true. */
export class ProcessClock {
  readonly #file = join(temporaryFolder(), 'clock');

  constructor() {
    this.set(0);
  }

  /** So many seconds ahead of the machine; below 0: behind it. */
  set(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s\n`);
  }

  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_NO_CACHE: '1',
      NO_FAKE_STAT: '1',
    };
  }
}

/** What a member says of itself; undefined: it does not answer. */
export async function memberHealth({ url }: Pick<Hub, 'url'>): Promise<ShownMember | undefined> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) });
    return ((await answer.json()) as { member?: ShownMember }).member;
  } catch {
    // It has ended, is stopped, or opens its ports again.
    return undefined;
  }
}

/** True when a member would answer a write. */
async function isReady({ url }: Pick<Hub, 'url'>): Promise<boolean> {
  return await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2000) }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** How a member ended, if it has, and what it said last. */
const endOf = ({ process, logs }: Pick<Hub, 'url'> & Partial<Pick<Hub, 'process' | 'logs'>>) => [
  process?.exitCode,
  logs?.slice(-3),
];

/** Waits until one of the members serves, and returns it. */
export async function whichServes<M extends Pick<Hub, 'url'>>(members: readonly M[], seconds = 40): Promise<M> {
  for (let tries = 0; tries < seconds * 20; tries += 1) {
    for (const member of members) if (await isReady(member)) return member;
    await sleep(50);
  }
  const states = await Promise.all(members.map(async (member) => [await memberHealth(member), endOf(member)]));
  throw new Error(`no member serves: ${JSON.stringify(states)}`);
}

/** Waits until a member has a state. */
export async function untilState(member: Pick<Hub, 'url'>, state: string, seconds = 40): Promise<ShownMember> {
  for (let tries = 0; tries < seconds * 20; tries += 1) {
    const health = await memberHealth(member);
    if (health?.state === state) return health;
    await sleep(50);
  }
  throw new Error(`the member is not ${state}: ${JSON.stringify(await memberHealth(member))}`);
}

const OWN = new Set(replicationTables.map(({ name }) => name));

/** Every row of a data file after all records of the log, as text by table and key. */
export async function rowsAtEnd(folder: string, log: string): Promise<Map<string, string>> {
  const file = new ReplicaFile({ folder, mapBytes: limits.mapBytes });
  const commitLog = await openCommitLog(`file://${log}`);
  const end = new AbortController();
  const follower = new LogFollower({
    commitLog,
    replica: file,
    identity: { name: 'reader', instance: 'r' },
    log: pino({ level: 'silent' }),
    prove: () => undefined,
    leaseMs: 1e9,
    priority: 0,
    signal: end.signal,
  });
  const followed = follower.run();
  while (follower.state !== 'following') await sleep(20);
  end.abort();
  await followed;
  const rows = new Map<string, string>();
  for (const table of file.tables.filter((name) => !OWN.has(name))) {
    for (const { key, value } of file.rows(table)) {
      rows.set(`${table} ${Buffer.from(key).toString('hex')}`, Buffer.from(value ?? []).toString('hex'));
    }
  }
  await file.close();
  await commitLog.close();
  return rows;
}
