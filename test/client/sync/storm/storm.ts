/**
 * A storm of real processes: watches of the built command over folders that users change at random, while clients and the
 * hub are killed, stopped and started again. Everything random comes from one seed; the order of processes does not.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hub, type HubOptions, startHub } from '../../../support/hub.ts';
import { account } from '../../../support/mirror.ts';
import { randomOf } from '../../../support/random.ts';
import { type SyncedFolder, syncedFolder } from '../../../support/synced-folder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { Actor } from './actor.ts';
import { Ledger } from './ledger.ts';
import { lostStrings, settle, silentDifferences } from './settled.ts';

export interface StormOptions {
  readonly seed: number;
  readonly watches: number;
  readonly operations: number;
  /** How long users wait between operations, on average. */
  readonly pauseMs: number;
  /** How long a byte string must stand to be owed. */
  readonly stillMs: number;
  /** Kills and outages, as a part of the operations. */
  readonly faults: number;
  /** Calls a minute; 0: no limit. */
  readonly rateLimit: number;
  /** How long the watches are left alone at the end. */
  readonly quietMs: number;
}

export interface StormReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly operations: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly owed: number;
  readonly seconds: number;
}

/** Debian's package faketime; without it no clock is skewed. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
export const hasFaketime = existsSync(FAKETIME);
const SKEWS = ['+0', '+2h', '-3d', '+40s', '-10s'];
const STARTS_MAX = 20;
const SECRET = 'outside of every synced folder';

interface Station {
  readonly place: SyncedFolder;
  readonly actor: Actor;
  readonly skew: string;
  watch: ReturnType<SyncedFolder['watch']> | undefined;
  /** What watches of this folder have written, over all restarts. */
  readonly outputs: string[];
}

export async function storm(options: StormOptions): Promise<StormReport> {
  const startedMs = Date.now();
  const weather = await Weather.begin(options);
  try {
    await weather.rage();
    const violations = await weather.calm();
    const { operations, faults, ledger } = weather;
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    return { seed: options.seed, violations, operations, faults, owed: ledger.owed.size, seconds };
  } finally {
    await weather.end();
  }
}

class Weather {
  readonly ledger: Ledger;
  readonly operations: Record<string, number> = {};
  readonly faults: Record<string, number> = {};
  readonly #options: StormOptions;
  readonly #random: () => number;
  readonly #stations: Station[] = [];
  readonly #violations: string[] = [];
  readonly #email: string;
  #hub: Hub;
  #isHubUp = true;
  /** Restarts that are under way. */
  readonly #coming = new Set<Promise<void>>();

  private constructor(options: StormOptions, hub: Hub, email: string) {
    this.#options = options;
    this.#random = randomOf(options.seed);
    this.ledger = new Ledger(options.stillMs);
    this.#hub = hub;
    this.#email = email;
  }

  static async begin(options: StormOptions): Promise<Weather> {
    // Below the ports that systems give to connections, so that none of them takes it while the hub is down.
    const port = 12_000 + Math.floor(Math.random() * 18_000);
    const hub = await startPatiently({
      env: { CAIRN_PORT: String(port), CAIRN_RATE_LIMIT: String(options.rateLimit) },
    });
    const { mcp_key: key, email } = await account(hub);
    const weather = new Weather(options, hub, email);
    for (let at = 0; at < options.watches; at += 1) weather.#addStation(key, at);
    for (const station of weather.#stations) weather.#watch(station);
    return weather;
  }

  #addStation(key: string, at: number): void {
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'secret.txt'), SECRET);
    const place = syncedFolder(this.#hub, key, 'storm');
    mkdirSync(place.folder, { recursive: true });
    const skew = hasFaketime ? (SKEWS[at % SKEWS.length] ?? '+0') : '+0';
    const station: Station = {
      place,
      skew,
      watch: undefined,
      outputs: [],
      actor: new Actor({
        folder: place.folder,
        outside,
        random: this.#random,
        ledger: this.ledger,
        isServed: () => this.#isHubUp && station.watch !== undefined,
      }),
    };
    this.#stations.push(station);
  }

  async rage(): Promise<void> {
    const { operations, pauseMs, faults } = this.#options;
    for (let at = 0; at < operations; at += 1) {
      const station = this.#pick(this.#stations);
      count(this.operations, station.actor.act());
      if (this.#random() < faults) this.#strike();
      await sleep(this.#random() * 2 * pauseMs);
      this.#lookForDeaths();
    }
    await Promise.all(this.#coming);
  }

  /** Lets all come to rest, and says what does not hold then. */
  async calm(): Promise<string[]> {
    const folders = this.#stations.map(({ place }) => place);
    for (const station of this.#stations) if (station.watch === undefined) this.#watch(station);
    // What was left out takes part again.
    for (const { place } of this.#stations) place.write('.cairnignore', '');
    await sleep(this.#options.quietMs);
    this.#lookForDeaths();
    for (const station of this.#stations) await this.#stop(station, 'stop');
    this.#violations.push(...(await settle(folders)));
    this.#violations.push(...(await silentDifferences(folders)));
    this.#violations.push(...(await lostStrings(this.#hub, this.#email, folders, this.ledger)));
    for (const { outputs, place } of this.#stations) {
      const trace = outputs.find((output) => /\n\s+at .*:\d+/.test(output));
      if (trace !== undefined) this.#violations.push(`a stack trace in ${place.folder}: ${trace.slice(-1500)}`);
    }
    const { stdout } = await this.#hub.cli('verify', '--json');
    const verified = JSON.parse(stdout) as { ok: boolean; problems: string[] };
    if (!verified.ok) this.#violations.push(...verified.problems.slice(0, 20).map((problem) => `verify: ${problem}`));
    return this.#violations;
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#coming);
    for (const station of this.#stations) await this.#stop(station, 'kill');
    await this.#hub.kill();
  }

  #watch(station: Station): void {
    const clock = station.skew === '+0' ? {} : fakeClock(station.skew);
    station.watch = station.place.watch(clock);
    // What stood while nothing looked is seen from now on.
    this.ledger.restart(station.place.folder);
  }

  async #stop(station: Station, how: 'stop' | 'kill'): Promise<void> {
    const { watch } = station;
    if (watch === undefined) return;
    station.watch = undefined;
    await watch[how]();
    station.outputs.push(watch.output());
  }

  /** A watch ends only when it is told to. */
  #lookForDeaths(): void {
    for (const station of this.#stations) {
      const { watch, place } = station;
      if (watch === undefined || !watch.hasEnded()) continue;
      station.watch = undefined;
      station.outputs.push(watch.output());
      this.#violations.push(`a watch of ${place.folder} ended by itself: ${watch.output().slice(-1500)}`);
      this.#watch(station);
    }
  }

  #strike(): void {
    const [name, fault] = this.#pick(FAULTS);
    const coming = fault(this, this.#random() * 4000);
    if (coming === undefined) return;
    count(this.faults, name);
    const settled = coming.finally(() => this.#coming.delete(settled));
    this.#coming.add(settled);
  }

  /** A client is gone for a while. */
  async killClient(downMs: number): Promise<void> {
    const station = this.#pick(this.#stations);
    if (station.watch === undefined) return;
    await this.#stop(station, 'kill');
    await sleep(downMs);
    if (station.watch === undefined) this.#watch(station);
  }

  /** The hub is gone for a while, and comes back at the same address. */
  killHub(downMs: number): Promise<void> | undefined {
    if (!this.#isHubUp) return undefined;
    this.#isHubUp = false;
    return this.#restartHub(downMs);
  }

  async #restartHub(downMs: number): Promise<void> {
    const { port, dataFolder } = this.#hub;
    const killedMs = Date.now();
    await this.#hub.kill();
    await sleep(downMs);
    const env = { CAIRN_PORT: String(port), CAIRN_RATE_LIMIT: String(this.#options.rateLimit) };
    this.#hub = await startPatiently({ dataFolder, env });
    this.#isHubUp = true;
    // Pauses between tries double, so the next may come as late again as the hub was gone.
    const graceMs = Date.now() - killedMs;
    for (const { place } of this.#stations) this.ledger.restart(place.folder, graceMs);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}

/** The data folder of a hub that was killed is free a moment later. */
async function startPatiently(options: HubOptions): Promise<Hub> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startHub(options);
    } catch (error) {
      if (tries === STARTS_MAX) throw error;
      await sleep(500);
    }
  }
}

type Fault = (weather: Weather, downMs: number) => Promise<void> | undefined;

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['kill a client', (weather, downMs) => weather.killClient(downMs / 4)],
  ['kill a client', (weather, downMs) => weather.killClient(downMs / 4)],
  ['a client is offline', (weather, downMs) => weather.killClient(downMs * 4)],
  ['kill the hub', (weather, downMs) => weather.killHub(downMs)],
];

function fakeClock(skew: string): Record<string, string> {
  return { LD_PRELOAD: FAKETIME, FAKETIME: skew, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
