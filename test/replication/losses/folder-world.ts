/** Members on this machine whose log is a folder. */
import { renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../../support/hub.ts';
import { LEASE_SECONDS, newLog, startMember, untilState } from '../../support/members.ts';
import { Clocks, type Loss, type MemberWorld, PROCESS_LOSSES } from './world.ts';

export class FolderWorld implements MemberWorld {
  readonly losses: ReadonlyMap<string, Loss>;
  readonly #folder = newLog();
  readonly #clocks = new Clocks();

  constructor() {
    this.losses = new Map([
      ...PROCESS_LOSSES,
      ['no log for longer than the lease', (trial) => this.#takeLogAway(trial)],
      ...this.#clocks.losses(),
    ]);
  }

  get log(): string {
    return `file://${this.#folder}`;
  }

  async start(name: string, dataFolder: string | undefined): Promise<Hub> {
    const clock = this.#clocks.of(name);
    const before = dataFolder === undefined ? {} : { dataFolder };
    return await startMember({ name, log: this.#folder, ...before, ...(clock && { clock }) });
  }

  async close(): Promise<void> {}

  async #takeLogAway(trial: Parameters<Loss>[0]): Promise<void> {
    const owner = await trial.owner();
    renameSync(this.#folder, `${this.#folder}-away`);
    await untilState(owner, 'apart');
    await sleep(LEASE_SECONDS * 1500);
    renameSync(`${this.#folder}-away`, this.#folder);
  }
}
