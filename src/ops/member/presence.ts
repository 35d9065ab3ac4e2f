/**
 * Signs of life that members leave in the log, by which the owner knows who could take over. They have no other contact.
 * The clocks of machines differ, so the owner counts by its own clock since a sign last changed.
 */
import type { Log } from '../../common/log.ts';
import type { MemberTrouble } from '../../http/route/health.ts';
import { limits } from '../../limits/service.ts';
import type { CommitLog } from '../../replication/log/log.ts';
import { DAY_MS } from '../../time/calendar.ts';
import type { MemberParts } from './health.ts';

const SIGNS = 'alive/';
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
    const awayMs = limits.memberSignsMissed * this.#everyMs;
    const found = [...this.#others].flatMap(([name, { sign, atMs }]): [string, MemberTrouble][] => {
      // While the log cannot be read, nothing is known of the others.
      if (this.#lookedMs - atMs > awayMs) return [[name, 'away']];
      return sign.endsWith('-full') ? [[name, 'no room']] : [];
    });
    return Object.fromEntries(found);
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
    const others = new Map<string, Seen>();
    for (const sign of await log.listParts(SIGNS)) {
      const [, name = '', what = ''] = sign.split('/');
      if (name === self) continue;
      if (Date.now() - Number(what.split('-')[0]) > keepDays * DAY_MS) {
        await log.removePart(sign);
        continue;
      }
      // Sorted: the last of a member is its newest.
      const known = this.#others.get(name);
      others.set(name, known?.sign === sign ? known : { sign, atMs: nowMs });
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
  const said = (name: string) =>
    troubles[name] === 'away' ? `${name} gives no sign of life` : `the disk of ${name} is nearly full or failed`;
  if (to !== undefined) {
    if (!members.includes(to)) return `there is no member ${to}; the members are ${members.join(', ')}`;
    return troubles[to] === undefined ? undefined : `${said(to)}, so it would not take over`;
  }
  const others = members.filter((name) => name !== self);
  if (others.length === 0 || others.some((name) => troubles[name] === undefined)) return undefined;
  return `no other member can take over: ${others.map(said).join('; ')}`;
}
