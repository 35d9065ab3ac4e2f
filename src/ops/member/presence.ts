/**
 * Signs of life that members leave in the log, by which the owner knows who could take over. They have no other contact.
 * The clocks of machines differ, so the owner counts by its own clock since a sign last changed.
 */
import { type MemberTrouble, Refusal, saidOfTrouble } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { CommitLog } from '../../replication/log/log.ts';
import { DAY_MS } from '../../time/calendar.ts';
import { healthOf, type MemberParts } from './health.ts';
import { forgetMember, memberNames, SIGNS } from './marks.ts';

const TICK_MS = 500;

export interface PresenceOptions {
  readonly log: Pick<CommitLog, 'listParts' | 'putPart' | 'removePart'>;
  readonly leaseMs: number;
  /** Days after which a member that is away is forgotten: it would have to join from a snapshot. */
  readonly keepDays: number;
  /** What this member says of itself now. */
  readonly self: () => MemberParts;
  readonly warn: Pick<Log, 'warn'>;
}

/** The newest sign of another member, and when it was first seen, by the monotonic clock. */
interface Seen {
  readonly sign: string;
  readonly atMs: number;
  /** How old it was then: of one that was left while this member watched, nothing, whatever the clocks say. */
  readonly ageMs: number;
}

/** Leaves the signs of one member and, while it owns the log, watches those of the others. */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #everyMs: number;
  readonly #timer: NodeJS.Timeout;
  #others: ReadonlyMap<string, Seen> = new Map();
  #left: { readonly hasRoom: boolean; readonly atMs: number } | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #running: Promise<void> | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#everyMs = Math.min(limits.memberSignMsMax, limits.memberSignLeases * options.leaseMs);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Why others could not take over, as far as this member knows: only while it owns the log. */
  get troubles(): Readonly<Record<string, MemberTrouble>> {
    if (!this.#options.self().isServing) return {};
    const found = [...this.#others].flatMap(([name, seen]): [string, MemberTrouble][] => {
      // While the log cannot be read, nothing is known of the others.
      if (this.#isAway(seen, this.#lookedMs)) return [[name, 'away']];
      return seen.sign.endsWith('-full') ? [[name, 'no room']] : [];
    });
    return Object.fromEntries(found);
  }

  /** Forgets a member that was removed. Throws Refusal. */
  async forget(name: string): Promise<void> {
    const { log, self } = this.#options;
    const { name: own, owner } = healthOf(self());
    const problem = forgetProblem({ name, self: own, owner, members: await memberNames(log) });
    if (problem !== undefined) throw new Refusal({ kind: 'not_found', what: problem });
    await forgetMember(log, name);
    const others = new Map(this.#others);
    others.delete(name);
    this.#others = others;
  }

  /** Leaves a sign now, if one is due. A failure is logged: the next tick tries again. */
  async join(): Promise<void> {
    await this.#running;
    this.#tick();
    await this.#running;
  }

  #isAway({ atMs }: Seen, nowMs: number): boolean {
    return nowMs - atMs > limits.memberSignsMissed * this.#everyMs;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #tick(): void {
    this.#running ??= this.#run()
      .then(() => {
        this.#hasFailed = false;
      })
      .catch((error: unknown) => {
        // The log says itself when it is away; the next tick tries again.
        if (!this.#hasFailed) this.#options.warn.warn({ err: error }, 'member: its sign of life is not in the log');
        this.#hasFailed = true;
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #run(): Promise<void> {
    const { identity, owner, follower, isServing } = this.#options.self();
    const { name } = identity;
    const hasRoom = owner !== undefined || follower?.state !== 'no room';
    const nowMs = performance.now();
    const left = this.#left;
    if (name !== '' && (left?.hasRoom !== hasRoom || nowMs - left.atMs >= this.#everyMs)) {
      await this.#leave(name, hasRoom);
      this.#left = { hasRoom, atMs: nowMs };
    }
    if (!isServing) {
      this.#others = new Map();
      this.#lookedMs = Number.NEGATIVE_INFINITY;
    } else if (nowMs - this.#lookedMs >= this.#everyMs / 2) {
      await this.#look(name);
      this.#lookedMs = nowMs;
    }
  }

  /** Puts a sign, and removes the earlier ones of this member. */
  async #leave(name: string, hasRoom: boolean): Promise<void> {
    const { log } = this.#options;
    const prefix = `${SIGNS}${name}/`;
    const earlier = await log.listParts(prefix);
    const sign = `${prefix}${String(Date.now()).padStart(15, '0')}-${hasRoom ? 'ready' : 'full'}`;
    await log.putPart(sign, Buffer.from('{}\n'));
    for (const each of earlier) if (each !== sign) await log.removePart(each);
  }

  async #look(self: string): Promise<void> {
    const { log, keepDays } = this.#options;
    const nowMs = performance.now();
    const isFirst = this.#lookedMs === Number.NEGATIVE_INFINITY;
    const others = new Map<string, Seen>();
    for (const sign of await log.listParts(SIGNS)) {
      const [, name = '', what = ''] = sign.split('/');
      if (name === self) continue;
      // Sorted: the last of a member is its newest.
      const known = this.#others.get(name);
      const ageMs = isFirst ? Date.now() - Number(what.split('-')[0]) : 0;
      others.set(name, known?.sign === sign ? known : { sign, atMs: nowMs, ageMs });
    }
    for (const [name, seen] of others) {
      if (!this.#isAway(seen, nowMs) || seen.ageMs + nowMs - seen.atMs <= keepDays * DAY_MS) continue;
      await forgetMember(log, name);
      others.delete(name);
    }
    this.#others = others;
  }
}

interface HandOver {
  /** Undefined: whoever is first. */
  readonly to: string | undefined;
  readonly self: string;
  readonly members: readonly string[];
  readonly troubles: Readonly<Record<string, MemberTrouble>>;
}

/** Why a hand-over would leave the hub without a member that serves; undefined: nothing is known against it. */
export function handOverProblem({ to, self, members, troubles }: HandOver): string | undefined {
  if (to !== undefined && !members.includes(to)) return noMember(to, members);
  const able = to === undefined ? members.filter((name) => name !== self) : [to];
  const said = able.map((name) => troubles[name] && `${name} ${saidOfTrouble(troubles[name])}`);
  return said.length === 0 || said.includes(undefined) ? undefined : said.join('; ');
}

interface Forgetting {
  readonly name: string;
  readonly self: string;
  readonly owner: string | null;
  readonly members: readonly string[];
}

/** Why a member cannot be forgotten; undefined: it can. */
function forgetProblem({ name, self, owner, members }: Forgetting): string | undefined {
  if (!members.includes(name)) return noMember(name, members);
  if (name === self || name === owner)
    return `${name} ${name === owner ? 'serves' : 'is this member'}; only one that was removed can be forgotten`;
  return undefined;
}

const noMember = (name: string, members: readonly string[]): string =>
  `there is no member ${name}; the members are ${members.join(', ')}`;
