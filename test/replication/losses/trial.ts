/** Members of a hub, and clients that write and read at whichever answers while members are lost. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { control } from '../../support/control.ts';
import { callTool, structured } from '../../support/gateway.ts';
import type { Hub } from '../../support/hub.ts';
import { isLinearizable, type RegisterOperation } from '../../support/linearizable.ts';
import { memberHealth, untilState, whichServes } from '../../support/members.ts';
import { randomOf } from '../../support/random.ts';
import { hasEnded, type MemberWorld, SECONDS_MAX } from './world.ts';

const CLIENTS = 6;
/** Of one client in a round: a list has at most 100 tasks. */
const APPENDS_MAX = 16;
/** A call that a cut network swallows has no answer. */
const CALL_MS = 8000;

interface Shown {
  readonly id: number;
  readonly content: string;
}

/** What a round saw. */
export interface RoundCounts {
  /** Tasks whose creation was answered. */
  readonly appends: number;
  /** Writes and reads of the register that were answered, and writes whose outcome is unknown. */
  readonly writes: number;
  readonly reads: number;
  readonly unknown: number;
}

export class LossTrial {
  readonly world: MemberWorld;
  readonly members = new Map<string, Hub>();
  readonly #answered = new Set<string>();
  #problems: string[] = [];
  #history: RegisterOperation[] = [];
  #key = '';
  #register = 0;
  #isOver = true;
  #clients: Promise<unknown> = Promise.resolve();

  constructor(world: MemberWorld) {
    this.world = world;
  }

  async open(): Promise<void> {
    try {
      const first = await this.#start('west');
      await whichServes([first], SECONDS_MAX);
      await untilState(await this.#start('east'), 'following', SECONDS_MAX);
    } catch (error) {
      throw new Error(`${(error as Error).message}; ${this.#told()}`, { cause: error });
    }
  }

  /** What each member said last, and how it ended, for a failure that needs a cause. */
  #told(): string {
    const members = [...this.members].map(([name, hub]) => {
      const { pid, exitCode, signalCode } = hub.process;
      const lines = hub.logs.filter(({ msg }) => msg !== 'request').slice(-20);
      return { name, exitCode, signalCode, ...processorSeconds(pid), stderr: hub.stderr(), lines };
    });
    return JSON.stringify(members);
  }

  /** Makes a new account with a register and nothing else, and lets clients work on it until `end`. Waits for their first writes. */
  async begin(round: number, random: () => number): Promise<void> {
    const owner = await this.owner();
    const made = await control(owner, { command: 'account.create', email: `ada${round}@example.org` });
    this.#key = made.mcp_key;
    const { task } = await structured<{ task: Shown }>(owner, 'create_task', { content: '0' }, this.#key);
    this.#register = task.id;
    this.#history = [];
    this.#problems = [];
    this.#answered.clear();
    this.#isOver = false;
    this.#clients = Promise.all(
      Array.from({ length: CLIENTS }, (_, number) =>
        this.#client(round * 100 + number, randomOf(Math.floor(random() * 2 ** 31))),
      ),
    );
    const isWritten = () => this.#answered.size > 0 && this.#history.some(({ kind }) => kind === 'write');
    for (let tries = 0; !isWritten() && tries < SECONDS_MAX * 20; tries += 1) await sleep(50);
  }

  /** Ends the clients, and judges what they saw: problems, each a sentence. */
  async end(): Promise<{ readonly problems: readonly string[]; readonly counts: RoundCounts }> {
    this.stop();
    await this.#clients;
    const problems = [...this.#problems];
    const seen = new Set((await this.#tasks(await this.owner())).map(({ content }) => content));
    const lost = [...this.#answered].filter((content) => !seen.has(content));
    if (lost.length > 0) problems.push(`lost: ${lost.join(', ')}`);
    if (!isLinearizable(this.#history, '0'))
      problems.push(`the register is not linearizable: ${JSON.stringify(this.#history)}`);
    const writes = this.#history.filter(({ kind }) => kind === 'write');
    const unknown = writes.filter(({ endMs }) => endMs === Number.POSITIVE_INFINITY).length;
    const counts = { appends: this.#answered.size, writes: writes.length - unknown, unknown };
    return { problems, counts: { ...counts, reads: this.#history.length - writes.length } };
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Starts again what has ended, and waits until one serves and the others follow it. */
  async heal(): Promise<void> {
    const endMs = Date.now() + SECONDS_MAX * 1000;
    for (;;) {
      // One that handed over or was fenced may end only now.
      for (const [name, member] of this.members) if (hasEnded(member)) await this.#start(name);
      const states = await Promise.all([...this.members.values()].map(memberHealth));
      const said = states.map((member) => member?.state ?? 'no answer');
      if (said.every((state) => state === 'owning' || state === 'following') && said.includes('owning')) return;
      if (Date.now() > endMs) {
        throw new Error(`the members do not find together: ${said.join(', ')}; ${this.#told()}`);
      }
      await sleep(100);
    }
  }

  async owner(): Promise<Hub> {
    return await whichServes([...this.members.values()], SECONDS_MAX);
  }

  others(member: Hub): Hub[] {
    return [...this.members.values()].filter((other) => other !== member);
  }

  nameOf(hub: Hub): string {
    return [...this.members].find(([, member]) => member === hub)?.[0] ?? '';
  }

  async close(): Promise<void> {
    this.stop();
    for (const member of this.members.values()) await member.kill();
    await this.#clients;
  }

  async #start(name: string): Promise<Hub> {
    const hub = await this.world.start(name, this.members.get(name)?.dataFolder);
    this.members.set(name, hub);
    return hub;
  }

  /** One client: it writes and reads at whichever member answers. */
  async #client(number: number, random: () => number): Promise<void> {
    let appends = 0;
    for (let turn = 0; !this.#isOver; turn += 1) {
      const hubs = [...this.members.values()];
      const hub = hubs[Math.floor(random() * hubs.length)] as Hub;
      const startMs = performance.now();
      const act = random();
      if (act < 0.3 && appends < APPENDS_MAX) {
        appends += 1;
        await this.#append(hub, `${number}-${turn}`);
      }
      if (act >= 0.3 && act < 0.5) await this.#write(hub, `${number}:${turn}`, startMs);
      if (act >= 0.5) await this.#read(hub, startMs);
      await sleep(5);
    }
  }

  async #append(hub: Hub, content: string): Promise<void> {
    const answer = await inTime(callTool(hub, 'create_task', { content }, this.#key)).catch(() => undefined);
    if (answer?.result !== undefined) this.#answered.add(content);
    else await sleep(20);
  }

  async #write(hub: Hub, value: string, startMs: number): Promise<void> {
    const args = { id: this.#register, content: value };
    const answer = await inTime(callTool(hub, 'update_task', args, this.#key)).catch((error: unknown) => error);
    const isKnown = typeof answer === 'object' && answer !== null && 'result' in answer;
    const endMs = isKnown ? performance.now() : Number.POSITIVE_INFINITY;
    if (!isKnown) await sleep(20);
    if (!wasRefused(answer)) this.#history.push({ kind: 'write', value, startMs, endMs });
  }

  async #read(hub: Hub, startMs: number): Promise<void> {
    const value = await this.#value(hub).catch(() => undefined);
    if (value === undefined) return await sleep(20);
    this.#history.push({ kind: 'read', value, startMs, endMs: performance.now() });
    const before = [...this.#answered];
    const seen = await this.#tasks(hub).catch(() => undefined);
    if (seen === undefined) return await sleep(20);
    const contents = new Set(seen.map(({ content }) => content));
    const stale = before.filter((content) => !contents.has(content));
    if (stale.length > 0) this.#problems.push(`stale: a read of ${this.nameOf(hub)} lacks ${stale.join(', ')}`);
  }

  async #tasks(hub: Hub): Promise<Shown[]> {
    return (await inTime(structured<{ tasks: Shown[] }>(hub, 'list_tasks', { limit: 100 }, this.#key))).tasks;
  }

  async #value(hub: Hub): Promise<string> {
    return (await this.#tasks(hub)).find(({ id }) => id === this.#register)?.content ?? 'missing';
  }
}

/**
 * How long the main thread of a process has run, and how long it has waited for a processor. With a lease of a second, a
 * member that waits longer than that at a time serves nobody.
 */
function processorSeconds(pid: number | undefined): { readonly ran?: number; readonly waited?: number } {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e9, waited: waited / 1e9 };
  } catch {
    // It has ended, or this is no Linux.
    return {};
  }
}

/** True when a call surely did nothing: nobody listened, or the answer says so. */
function wasRefused(answer: unknown): boolean {
  const { code, error } = answer as { readonly code?: string; readonly error?: { readonly message: string } };
  return code === 'ECONNREFUSED' || (error !== undefined && !/not known|no answer/.test(error.message));
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const end = new AbortController();
  const late = sleep(CALL_MS, undefined, { signal: end.signal }).then(() => {
    throw new Error('no answer in time');
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    answer.catch(() => undefined);
    late.catch(() => undefined);
    end.abort();
  }
}
