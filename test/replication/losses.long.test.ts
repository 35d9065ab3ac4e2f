/** Owners are lost under load, round after round: nothing that was answered is lost, and no read is stale. */
import { renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { LogFollower } from '../../src/replication/members/follower.ts';
import { ReplicaFile } from '../../src/store/logged/replica.ts';
import { callTool, structured } from '../support/gateway.ts';
import type { Hub } from '../support/hub.ts';
import { isLinearizable, type RegisterOperation } from '../support/linearizable.ts';
import {
  canSetClocks,
  LEASE_SECONDS,
  newLog,
  ProcessClock,
  startMember,
  untilState,
  whichServes,
} from '../support/members.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';

/** Losses of an owner; a long run takes a thousand. */
const ROUNDS = Number(process.env['MEMBER_ROUNDS'] ?? 2);
const CLIENTS = 6;
/** Of one client in a round. */
const APPENDS_MAX = 16;
const ROUND_MS_MAX = 120_000;

interface Shown {
  readonly id: number;
  readonly content: string;
}

class Trial {
  readonly log = newLog();
  readonly members = new Map<string, Hub>();
  readonly clocks = new Map<string, ProcessClock>();
  readonly answered = new Set<string>();
  readonly problems: string[] = [];
  history: RegisterOperation[] = [];
  key = '';
  register = 0;
  isOver = false;

  async open(): Promise<void> {
    const first = await this.start('west');
    await whichServes([first]);
    await untilState(await this.start('east'), 'following');
  }

  /** A new account with a register and nothing else. */
  async begin(round: number): Promise<void> {
    const owner = await this.owner();
    const made = await owner.cli('account', 'create', '--email', `ada${round}@example.org`, '--json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    this.key = (JSON.parse(made.stdout) as { mcp_key: string }).mcp_key;
    const { task } = await structured<{ task: Shown }>(owner, 'create_task', { content: '0' }, this.key);
    this.register = task.id;
    this.history = [];
    this.isOver = false;
  }

  async start(name: string): Promise<Hub> {
    const before = this.members.get(name);
    if (canSetClocks && before === undefined) this.clocks.set(name, new ProcessClock());
    const hub = await startMember({
      name,
      log: this.log,
      ...(before && { dataFolder: before.dataFolder }),
      ...(this.clocks.has(name) && { clock: this.clocks.get(name) as ProcessClock }),
    });
    this.members.set(name, hub);
    return hub;
  }

  /** Starts again what has ended, and waits until one serves and the others follow it. */
  async heal(): Promise<void> {
    for (const [name, { process: child }] of this.members) {
      if (child.exitCode !== null || child.signalCode !== null) await this.start(name);
    }
    const owner = await whichServes([...this.members.values()]);
    for (const member of this.members.values()) if (member !== owner) await untilState(member, 'following');
  }

  nameOf(hub: Hub): string {
    return [...this.members].find(([, member]) => member === hub)?.[0] ?? '';
  }

  async owner(): Promise<Hub> {
    return await whichServes([...this.members.values()]);
  }

  /** One client: it writes and reads at whichever member answers. */
  async client(number: number, random: () => number): Promise<void> {
    let appends = 0;
    for (let turn = 0; !this.isOver; turn += 1) {
      const hubs = [...this.members.values()];
      const hub = hubs[Math.floor(random() * hubs.length)] as Hub;
      const startMs = performance.now();
      const act = random();
      if (act < 0.3 && appends < APPENDS_MAX) {
        appends += 1;
        await this.append(hub, `${number}-${turn}`);
      }
      if (act >= 0.3 && act < 0.5) await this.write(hub, `${number}:${turn}`, startMs);
      if (act >= 0.5) await this.read(hub, startMs);
      await sleep(5);
    }
  }

  async append(hub: Hub, content: string): Promise<void> {
    const answer = await callTool(hub, 'create_task', { content }, this.key).catch(() => undefined);
    if (answer?.result !== undefined) this.answered.add(content);
    else await sleep(20);
  }

  async write(hub: Hub, value: string, startMs: number): Promise<void> {
    const args = { task_id: this.register, content: value };
    const answer = await callTool(hub, 'update_task', args, this.key).catch((error: unknown) => error);
    const isKnown = typeof answer === 'object' && answer !== null && 'result' in answer;
    if (!isKnown) await sleep(20);
    if (wasRefused(answer)) return;
    this.history.push({ kind: 'write', value, startMs, endMs: isKnown ? performance.now() : Number.POSITIVE_INFINITY });
  }

  async read(hub: Hub, startMs: number): Promise<void> {
    const value = await this.value(hub).catch(() => undefined);
    if (value === undefined) return await sleep(20);
    this.history.push({ kind: 'read', value, startMs, endMs: performance.now() });
    const before = [...this.answered];
    const seen = await this.tasks(hub).catch(() => undefined);
    if (seen === undefined) return await sleep(20);
    const contents = new Set(seen.map(({ content }) => content));
    const stale = before.filter((content) => !contents.has(content));
    if (stale.length > 0) this.problems.push(`a read of ${hub.url} lacks ${stale.join(', ')}`);
  }

  /** All tasks of the round. A list has at most 100, so each round has an account and few appends. */
  async tasks(hub: Hub): Promise<Shown[]> {
    return (await structured<{ tasks: Shown[] }>(hub, 'list_tasks', { limit: 100 }, this.key)).tasks;
  }

  async value(hub: Hub): Promise<string> {
    return (await this.tasks(hub)).find(({ id }) => id === this.register)?.content ?? 'missing';
  }
}

/** True when a call surely did nothing: nobody listened, or the answer says so. */
function wasRefused(answer: unknown): boolean {
  const { code, error } = answer as { readonly code?: string; readonly error?: { readonly message: string } };
  return code === 'ECONNREFUSED' || (error !== undefined && !/not known|no answer/.test(error.message));
}

const FAULTS = [
  'kill',
  'stop past the lease',
  'hand over',
  'kill the follower',
  'no log for longer than the lease',
  ...(canSetClocks
    ? ([
        "the follower's clock an hour ahead",
        "the owner's clock an hour ahead",
        "the owner's clock an hour back",
      ] as const)
    : []),
] as const;

async function lose(trial: Trial, fault: (typeof FAULTS)[number]): Promise<void> {
  const owner = await trial.owner();
  const others = [...trial.members].filter(([, member]) => member !== owner);
  switch (fault) {
    case 'kill':
      return await owner.kill();
    case 'hand over':
      await owner.cli('member', 'hand-over');
      return;
    case 'kill the follower':
      for (const [, member] of others) await member.kill();
      return;
    case 'no log for longer than the lease':
      renameSync(trial.log, `${trial.log}-away`);
      await untilState(owner, 'apart');
      await sleep(LEASE_SECONDS * 1500);
      return renameSync(`${trial.log}-away`, trial.log);
    case "the follower's clock an hour ahead":
      for (const [name] of others) trial.clocks.get(name)?.set(3600);
      break;
    case "the owner's clock an hour ahead":
    case "the owner's clock an hour back":
      trial.clocks.get(trial.nameOf(owner))?.set(fault.endsWith('back') ? -3600 : 3600);
      break;
    case 'stop past the lease':
      owner.process.kill('SIGSTOP');
      await whichServes(others.map(([, member]) => member));
      owner.process.kill('SIGCONT');
      // It finds its position taken with its next beat, at the latest.
      await new Promise((resolve) => {
        if (owner.process.signalCode !== null) resolve(undefined);
        owner.process.once('exit', resolve);
      });
      return;
  }
  await sleep(LEASE_SECONDS * 2500);
  for (const clock of trial.clocks.values()) clock.set(0);
}

/** Every row of a data file after all records of the log, as text by table and key. */
async function rowsOf(folder: string, log: string): Promise<Map<string, string>> {
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
  for (const table of file.tables.filter((name) => name !== 'replication')) {
    for (const { key, value } of file.rows(table)) {
      rows.set(`${table} ${Buffer.from(key).toString('hex')}`, Buffer.from(value ?? []).toString('hex'));
    }
  }
  await file.close();
  await commitLog.close();
  return rows;
}

test(`[MEMBER-1, MEMBER-2, MEMBER-3] ${ROUNDS} losses of an owner lose nothing and show nothing stale (seed ${seed})`, {
  timeout: ROUND_MS_MAX * (ROUNDS + 1),
}, async () => {
  const random = randomOf(seed);
  const trial = new Trial();
  await trial.open();
  let answered = 0;
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const fault = FAULTS[(seed + round) % FAULTS.length] as (typeof FAULTS)[number];
      await trial.begin(round);
      const clients = Array.from({ length: CLIENTS }, (_, number) =>
        trial.client(round * 100 + number, randomOf(Math.floor(random() * 2 ** 31))),
      );
      await sleep(300 + random() * 700);
      await lose(trial, fault);
      await trial.heal();
      await sleep(300);
      trial.isOver = true;
      await Promise.all(clients);
      const where = `round ${round} (${fault}) of seed ${seed}`;
      expect(trial.problems, where).toEqual([]);
      const seen = new Set((await trial.tasks(await trial.owner())).map(({ content }) => content));
      expect(
        [...trial.answered].filter((content) => !seen.has(content)),
        `lost in ${where}`,
      ).toEqual([]);
      expect(isLinearizable(trial.history, '0'), `the register in ${where}: ${JSON.stringify(trial.history)}`).toBe(
        true,
      );
      answered += trial.answered.size;
      trial.answered.clear();
    }
    expect(answered).toBeGreaterThan(0);
    const hubs = [...trial.members.values()];
    for (const hub of hubs) await hub.kill();
    const [one, other] = await Promise.all(hubs.map(({ dataFolder }) => rowsOf(dataFolder, trial.log)));
    expect(one?.size).toBeGreaterThan(answered);
    expect([...(one ?? [])].filter(([key, stored]) => other?.get(key) !== stored)).toEqual([]);
    expect(other?.size).toBe(one?.size);
  } finally {
    trial.isOver = true;
    for (const member of trial.members.values()) await member.kill();
  }
});
