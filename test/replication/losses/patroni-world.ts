/** Members on this machine whose log is in PostgreSQL under Patroni in synchronous mode: it is the log that is lost. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../../support/hub.ts';
import { startMember } from '../../support/members.ts';
import type { PatroniCluster } from './patroni.ts';
import { Clocks, type Loss, type MemberWorld, PAST_THE_LEASE_MS } from './world.ts';

export class PatroniWorld implements MemberWorld {
  readonly log: string;
  readonly losses: ReadonlyMap<string, Loss>;
  readonly #cluster: PatroniCluster;
  readonly #clocks = new Clocks();

  constructor(cluster: PatroniCluster) {
    this.#cluster = cluster;
    this.log = `${cluster.url}?cell=${randomBytes(6).toString('hex')}`;
    this.losses = new Map<string, Loss>([
      ['the primary killed', () => this.#losePrimary((role) => cluster.kill(role))],
      // One that is stopped and goes on is no such loss: Patroni 3.0.2 then takes the lead back from the new primary. For one
      // that its Patroni left, Patroni 3.0.2 resets synchronous_standby_names when it starts again, before it demotes. With
      // `synchronous_mode_strict` what waits there waits on.
      ['the primary left by its Patroni', () => this.#losePrimary((role) => cluster.abandon(role))],
      ['the standby killed', () => this.#loseStandby((role) => cluster.kill(role))],
      ['waits for the standby cancelled', () => this.#cancelWaits()],
      ['the standby stopped', () => this.#loseStandby((role) => cluster.pause(role))],
    ]);
  }

  async start(name: string, dataFolder: string | undefined): Promise<Hub> {
    const clock = this.#clocks.of(name);
    return await startMember({ name, log: this.log, ...(dataFolder && { dataFolder }), ...(clock && { clock }) });
  }

  async close(): Promise<void> {}

  async #losePrimary(lose: (role: string) => Promise<() => void>): Promise<void> {
    const before = await this.#cluster.indexOf('primary');
    const mend = await lose('primary');
    await this.#cluster.untilMoved(before);
    await sleep(PAST_THE_LEASE_MS);
    mend();
    await this.#cluster.untilInSync();
  }

  async #loseStandby(lose: (role: string) => Promise<() => void>): Promise<void> {
    const mend = await lose('sync_standby');
    await sleep(PAST_THE_LEASE_MS);
    mend();
    await this.#cluster.untilInSync();
  }

  /** Commits whose wait is cancelled end with a warning: they are visible, and the standby may not have them. */
  async #cancelWaits(): Promise<void> {
    const mend = await this.#cluster.pause('sync_standby');
    let cancelled = 0;
    for (let tries = 0; cancelled === 0 && tries < 20; tries += 1) {
      await sleep(100);
      cancelled += await this.#cluster.cancelWaits();
    }
    mend();
    await this.#cluster.untilInSync();
    if (cancelled === 0) throw new Error('no commit waited for the standby');
  }
}
