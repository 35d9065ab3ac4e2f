/** Answers the probes: whether the process is up, and whether it accepts writes. */
import type { MemberTrouble } from '../../common/fault.ts';
import type { Histogram } from '../../common/histogram.ts';
import { limits } from '../../limits/service.ts';
import { json } from '../reply/reply.ts';
import { objectSchema } from './doc.ts';
import { operation } from './operation.ts';
import type { Route } from './route.ts';

export type Phase = 'starting' | 'ready' | 'draining';

/** Something that an operator must know about. */
export interface HubCheck {
  readonly name: string;
  readonly severity: 'warning' | 'critical';
  /** True while it keeps ordinary accounts from writing. */
  readonly blocks_writes: boolean;
  /** What it means and what to do. */
  readonly message: string;
  readonly since: string;
}

export interface Readiness {
  readonly isReady: boolean;
  readonly checks: readonly HubCheck[];
}

/** A member of several that share a log. */
export interface MemberHealth {
  readonly name: string;
  readonly state: string;
  /** What the state means. */
  readonly message: string;
  /** The newest record of the log that this member has. */
  readonly position: number;
  /** Records of the log that it does not have yet. */
  readonly behind: number;
  /** The member that owns the log, as far as this one knows; null: none. */
  readonly owner: string | null;
  /** How long the oldest write that was answered before the log had it has waited for it, in milliseconds; 0: none waits. */
  readonly unlogged_ms: number;
  /** Files of answered writes that the log never had, until they are removed. */
  readonly set_aside: number;
}

/** A member says who it is, and why it owns the log or not. */
export interface MemberReport extends MemberHealth {
  readonly why: string;
  /** Milliseconds of the lease that are left; null: this member does not own the log. */
  readonly lease_left_ms: number | null;
  /** Names of all members that joined and were not forgotten since; empty: the log did not say. */
  readonly members: readonly string[];
  /** How many files of answered writes that the log never had each member has, for those that have some. */
  readonly set_aside_by: Readonly<Record<string, number>>;
  /** Why others could not take over, as far as the owner knows. */
  readonly troubles: Readonly<Record<string, MemberTrouble>>;
}

/** What an operator does with the members of a hub. */
export interface MemberTools {
  readonly report: () => Promise<MemberReport>;
  /** Hands over to a member, or to whichever is first. Resolves once this one has begun to. Throws Refusal. */
  readonly handOver: (to: string | undefined) => Promise<void>;
  /** How long the log has not said whether it has the newest record of this member, in milliseconds; 0: it has. */
  readonly appendingMs: () => number;
  /** Makes a snapshot of the log. Resolves with its position. */
  readonly snapshot: () => Promise<number>;
  /** Forgets a member that was removed. Throws Refusal. */
  readonly forget: (name: string) => Promise<void>;
  /** Why others could not take over, as far as this member knows. */
  readonly troubles: () => MemberReport['troubles'];
}

/** What a member knows of itself and its log. */
export interface MemberFigures extends Pick<MemberHealth, 'name' | 'state' | 'position' | 'behind' | 'set_aside'> {
  /** Milliseconds of the lease that are left; undefined: this member does not own the log. */
  readonly leaseLeftMs: number | undefined;
  /** Durations of appends; undefined: this member does not own the log. */
  readonly appends: Histogram | undefined;
  /** Writes that were answered and that the log does not have yet; undefined: none is answered before. */
  readonly lag: { readonly commits: number; readonly bytes: number; readonly ms: number } | undefined;
}

export interface HealthOptions {
  readonly version: string;
  /** Undefined: unknown. */
  readonly commit: string | undefined;
  readonly ready: () => Promise<Readiness>;
  /** Undefined: this hub has no log. */
  readonly member?: (() => MemberHealth) | undefined;
}

/** After these another process, or another part of this one, answers on the next connection. */
const CLOSING: ReadonlySet<string> = new Set(['draining', 'member']);

const CHECKS = {
  type: 'array',
  items: objectSchema({
    name: { type: 'string' },
    severity: { enum: ['warning', 'critical'] },
    blocks_writes: { type: 'boolean' },
    message: { type: 'string' },
    since: { type: 'string', format: 'date-time' },
  }),
} as const;

const MEMBER = objectSchema({
  name: { type: 'string' },
  state: { type: 'string' },
  message: { type: 'string' },
  position: { type: 'integer', minimum: 0 },
  behind: { type: 'integer', minimum: 0 },
  owner: { type: ['string', 'null'] },
  unlogged_ms: { type: 'integer', minimum: 0 },
  set_aside: { type: 'integer', minimum: 0 },
});

export function healthRoutes({ version, commit, ready, member }: HealthOptions): Route[] {
  const probe = { method: 'GET', tag: 'probes', access: 'open', uncounted: true } as const;
  return [
    operation({
      ...probe,
      path: '/health',
      operationId: 'getHealth',
      summary: 'Whether the service is up',
      description: 'Answers while the process runs, including during start and stop. Accepts any User-Agent, or none.',
      answer: {
        description: 'It is up',
        schema: objectSchema({
          status: { const: 'ok' },
          version: { type: 'string' },
          // Of the build; not of one that was made outside of git.
          ...(commit === undefined ? {} : { commit: { type: 'string' } }),
          uptime_seconds: { type: 'integer', minimum: 0 },
          // Only of a member of several.
          ...(member === undefined ? {} : { member: MEMBER }),
        }),
        example: { status: 'ok', version: '1.0.0', ...(commit && { commit: 'af5c21e3d9ab' }), uptime_seconds: 86400 },
      },
      handle: () => ({
        status: 'ok',
        version,
        ...(commit && { commit }),
        uptime_seconds: Math.floor(process.uptime()),
        ...(member === undefined ? {} : { member: member() }),
      }),
    }),
    operation({
      ...probe,
      path: '/ready',
      operationId: 'getReady',
      summary: 'Whether the service accepts writes',
      description:
        '200 while ordinary accounts can write, else 503. `checks` lists everything that an operator must know about, also what does not stop writes. Accepts any User-Agent, or none.',
      answer: {
        description: 'The service accepts writes',
        schema: objectSchema({ status: { const: 'ready' }, checks: CHECKS }),
        example: { status: 'ready', checks: [] },
      },
      answers: {
        503: {
          description: 'The service does not accept writes',
          schema: objectSchema({ status: { const: 'not_ready' }, error: { type: 'string' }, checks: CHECKS }),
          example: {
            status: 'not_ready',
            error: 'The hub is stopping. Try again in a moment.',
            checks: [
              {
                name: 'draining',
                severity: 'critical',
                blocks_writes: true,
                message: 'The hub is stopping. Try again in a moment.',
                since: '2026-11-20T20:18:57.123Z',
              },
            ],
          },
          headers: ['Retry-After'],
        },
      },
      async reply() {
        const { isReady, checks } = await ready();
        if (isReady) return json(200, { status: 'ready', checks });
        const error = checks.find(({ blocks_writes }) => blocks_writes)?.message;
        const headers = { 'Retry-After': String(limits.retryAfterSeconds) };
        const reply = json(503, { status: 'not_ready', error, checks }, headers);
        return checks.some(({ name }) => CLOSING.has(name)) ? { ...reply, close: 'after' } : reply;
      },
    }),
  ];
}
