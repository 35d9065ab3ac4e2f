/** Where the members of a trial run, and what can be done to them there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { control } from '../../support/control.ts';
import type { Hub } from '../../support/hub.ts';
import { canSetClocks, LEASE_SECONDS, ProcessClock, whichServes } from '../../support/members.ts';
import type { LossTrial } from './trial.ts';

/** One kind of loss: it resolves when what it broke works again. Ended members are started again later. */
export type Loss = (trial: LossTrial) => Promise<void>;

export interface MemberWorld {
  /** The URL of the log as this process reaches it. */
  readonly log: string;
  /** What opening the log needs beside its URL. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly losses: ReadonlyMap<string, Loss>;
  start(name: string, dataFolder: string | undefined): Promise<Hub>;
  /** Removes what outlives the members. */
  close(): Promise<void>;
}

/** How long a member may take to serve or to follow on a busy machine. */
export const SECONDS_MAX = 180;
/** Longer than a lease and the patience of a follower. */
export const PAST_THE_LEASE_MS = LEASE_SECONDS * 2500;

export const hasEnded = ({ process: child }: Hub): boolean => child.exitCode !== null || child.signalCode !== null;

/** Resolves when a process has ended. */
export const ended = (hub: Hub): Promise<void> =>
  new Promise((resolve) => {
    if (hasEnded(hub)) resolve();
    hub.process.once('exit', () => resolve());
  });

/** Wall clocks of members, each set alone; undefined where this machine cannot set them. */
export class Clocks {
  readonly #clocks = new Map<string, ProcessClock>();

  of(name: string): ProcessClock | undefined {
    if (!canSetClocks) return undefined;
    const clock = this.#clocks.get(name) ?? new ProcessClock();
    this.#clocks.set(name, clock);
    return clock;
  }

  /** Losses of which the members notice nothing but their clocks. */
  losses(): [string, Loss][] {
    if (!canSetClocks) return [];
    const wrong =
      (seconds: number, isOwners: boolean): Loss =>
      async (trial) => {
        const owner = await trial.owner();
        for (const member of isOwners ? [owner] : trial.others(owner)) this.of(trial.nameOf(member))?.set(seconds);
        await sleep(PAST_THE_LEASE_MS);
        for (const clock of this.#clocks.values()) clock.set(0);
      };
    return [
      ["the follower's clock an hour ahead", wrong(3600, false)],
      ["the owner's clock an hour ahead", wrong(3600, true)],
      ["the owner's clock an hour back", wrong(-3600, true)],
    ];
  }
}

/** Losses that need nothing but processes. */
export const PROCESS_LOSSES: readonly [string, Loss][] = [
  ['kill', async (trial) => await (await trial.owner()).kill()],
  [
    'stop past the lease',
    async (trial) => {
      const owner = await trial.owner();
      owner.process.kill('SIGSTOP');
      await whichServes(trial.others(owner), SECONDS_MAX);
      owner.process.kill('SIGCONT');
      // It finds its position taken with its next beat, at the latest.
      await ended(owner);
    },
  ],
  ['hand over', async (trial) => void (await control(await trial.owner(), { command: 'member.hand_over' }))],
  [
    'kill the follower',
    async (trial) => {
      for (const member of trial.others(await trial.owner())) await member.kill();
    },
  ],
];
