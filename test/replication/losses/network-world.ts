/**
 * Members that reach their clients and their log in PostgreSQL over a network that can be cut, with data folders on disks
 * that can be full.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../../support/hub.ts';
import { LEASE_SECONDS, startMember, whichServes } from '../../support/members.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { type RoughWire, startRoughWire, WIRE_MISCHIEF, type WireMischief } from '../../support/rough-wire.ts';
import { MemberNetwork, type NetworkPlace } from './network.ts';
import { OwnDisk } from './own-disk.ts';
import type { LossTrial } from './trial.ts';
import { Clocks, ended, type Loss, type MemberWorld, PAST_THE_LEASE_MS, PROCESS_LOSSES, SECONDS_MAX } from './world.ts';

/** Of the statements while the log is bad. */
const BAD_SHARE = 0.3;

interface Machine {
  readonly place: NetworkPlace;
  readonly disk: OwnDisk;
}

export class NetworkWorld implements MemberWorld {
  readonly log: string;
  readonly losses: ReadonlyMap<string, Loss>;
  readonly #wire: RoughWire;
  readonly #cell: string;
  readonly #network = new MemberNetwork();
  readonly #machines = new Map<string, Machine>();
  readonly #clocks = new Clocks();

  private constructor(server: PostgresServer, wire: RoughWire, random: () => number) {
    this.#wire = wire;
    this.#cell = randomBytes(6).toString('hex');
    this.log = `${server.url}?cell=${this.#cell}`;
    const badly =
      (mischief: (statement: string) => WireMischief): Loss =>
      () =>
        this.#treatBadly(mischief);
    const anyOf = (): WireMischief =>
      WIRE_MISCHIEF[Math.floor((random() / BAD_SHARE) * WIRE_MISCHIEF.length)] ?? 'none';
    const isRecord = (statement: string) => statement.includes('insert into cairn_log ');
    this.losses = new Map<string, Loss>([
      ...PROCESS_LOSSES,
      ['the owner cut from the log', (trial) => this.#cutOwner(trial, { log: true })],
      ['the owner cut from its clients', (trial) => this.#cutOwner(trial, { clients: true })],
      ['the owner cut from both', (trial) => this.#cutOwner(trial, { clients: true, log: true })],
      ['the follower cut from the log', (trial) => this.#cutFollower(trial)],
      ['the log does not answer', badly(() => 'mute')],
      ['the log answers late', badly(() => 'late')],
      [
        'the log answers later than a lease',
        async () => {
          const { lateMs } = this.#wire;
          this.#wire.lateMs = LEASE_SECONDS * 1300;
          await this.#treatBadly(() => 'late');
          this.#wire.lateMs = lateMs;
        },
      ],
      ['the log does twice what it is told', badly((statement) => (isRecord(statement) ? 'twice' : 'none'))],
      ['the log answers badly', badly(anyOf)],
      ["the owner's disk full", (trial) => this.#fillDisk(trial, true)],
      ["the follower's disk full", (trial) => this.#fillDisk(trial, false)],
      ...this.#clocks.losses(),
    ]);
  }

  static async open(server: PostgresServer, random: () => number): Promise<NetworkWorld> {
    return new NetworkWorld(server, await startRoughWire(server.port, '0.0.0.0'), random);
  }

  async start(name: string): Promise<Hub> {
    const machine = this.#machines.get(name) ?? { place: this.#network.place(name), disk: new OwnDisk() };
    this.#machines.set(name, machine);
    const { place, disk } = machine;
    const clock = this.#clocks.of(name);
    const log = `postgres://cairn@${place.logHost}:${this.#wire.port}/postgres?cell=${this.#cell}`;
    const where = { wrapper: place.wrapper, dataFolder: disk.folder, env: { CAIRN_HOST: place.address } };
    const hub = await startMember({ name, log, ...where, ...(clock && { clock }) });
    return { ...hub, url: `http://${place.address}:${hub.port}` };
  }

  async close(): Promise<void> {
    this.#wire.close();
    this.#network.close();
    for (const { disk } of this.#machines.values()) disk.close();
  }

  #machineOf(trial: LossTrial, member: Hub): Machine {
    const machine = this.#machines.get(trial.nameOf(member));
    if (machine === undefined) throw new Error('this member runs on no machine');
    return machine;
  }

  async #cutOwner(trial: LossTrial, wires: { readonly clients?: boolean; readonly log?: boolean }): Promise<void> {
    const owner = await trial.owner();
    const { place } = this.#machineOf(trial, owner);
    place.cut(true, wires);
    try {
      // Without clients it keeps the log, and nobody takes over.
      if (wires.log === true) await whichServes(trial.others(owner), SECONDS_MAX);
      else await sleep(PAST_THE_LEASE_MS);
    } finally {
      place.cut(false, wires);
    }
    // Its append is still on the way, and meets a position that is taken.
    if (wires.log === true) await ended(owner);
  }

  async #cutFollower(trial: LossTrial): Promise<void> {
    for (const member of trial.others(await trial.owner())) {
      const { place } = this.#machineOf(trial, member);
      place.cut(true, { log: true });
      await sleep(PAST_THE_LEASE_MS);
      place.cut(false, { log: true });
    }
  }

  async #treatBadly(mischief: (statement: string) => WireMischief): Promise<void> {
    this.#wire.mischief = mischief;
    await sleep(PAST_THE_LEASE_MS * 2);
    this.#wire.mischief = () => 'none';
    this.#wire.cutAll();
  }

  async #fillDisk(trial: LossTrial, isOwners: boolean): Promise<void> {
    const owner = await trial.owner();
    const full = (isOwners ? [owner] : trial.others(owner)).map((member) => this.#machineOf(trial, member).disk);
    for (const disk of full) disk.fill();
    await sleep(PAST_THE_LEASE_MS);
    for (const disk of full) disk.free();
  }
}
