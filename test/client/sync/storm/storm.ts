/**
 * A storm of real processes: watches of the built command over folders that users change at random, while clients and the
 * hub are killed, stopped and started again. Everything random comes from one seed; the order of processes does not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hub, type HubOptions, startHub } from '../../../support/hub.ts';
import { account } from '../../../support/mirror.ts';
import { randomOf } from '../../../support/random.ts';
import { DOWN_MS_MAX, FAULTS } from './faults.ts';
import { Journal } from './journal.ts';
import { Ledger, type Owed } from './ledger.ts';
import { agreeOnRules, knownOf, lostStrings, settle, silentDifferences, wrongRules } from './settled.ts';
import { Station } from './station.ts';

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
  readonly operations: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Byte strings that must be found. */
  readonly owed: number;
  /** What does not hold, by what it violates. */
  readonly lost: readonly string[];
  readonly different: readonly string[];
  readonly other: readonly string[];
  readonly seconds: number;
  readonly journal: Journal;
}

const STARTS_MAX = 20;
const UMASKS = [0o022, 0o077, 0o002];

export async function storm(options: StormOptions): Promise<StormReport> {
  const startedMs = Date.now();
  const umask = process.umask();
  const weather = await Weather.begin(options);
  try {
    await weather.rage();
    const found = await weather.calm().catch((error: unknown) => weather.explain(error));
    const { operations, faults, ledger, journal } = weather;
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    return { seed: options.seed, operations, faults, owed: ledger.owed.size, ...found, seconds, journal };
  } finally {
    await weather.end();
    process.umask(umask);
  }
}

class Weather {
  readonly ledger: Ledger;
  readonly journal = new Journal();
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
    process.on('SIGCONT', weather.#goOn);
    for (let at = 0; at < options.watches; at += 1) weather.#addStation(key, at);
    return weather;
  }

  #addStation(key: string, at: number): void {
    const [hub, random, ledger, journal] = [this.#hub, this.#random, this.ledger, this.journal];
    const station = new Station({ hub, key, at, random, ledger, journal, isHubUp: () => this.#isHubUp });
    this.#stations.push(station);
    station.watch();
  }

  /** The storm was stopped, with all of its watches: nothing was seen meanwhile. */
  readonly #goOn = (): void => {
    for (const { place } of this.#stations) this.ledger.restart(place.folder);
    this.journal.note('STORM', 'continues after it was stopped');
  };

  async rage(): Promise<void> {
    const { operations, pauseMs, faults } = this.#options;
    for (let at = 0; at < operations; at += 1) {
      if (this.#random() < 0.01) process.umask(this.#pick(UMASKS));
      count(this.operations, this.#pick(this.#stations).act());
      if (this.#random() < faults) this.#strike();
      await sleep(this.#random() * 2 * pauseMs);
      this.#lookForDeaths();
    }
    await Promise.all(this.#coming);
  }

  /** Lets all come to rest, and says what does not hold then. */
  async calm(): Promise<Pick<StormReport, 'lost' | 'different' | 'other'>> {
    const folders = this.#stations.map(({ place }) => place);
    for (const station of this.#stations) {
      station.unlock();
      if (!station.isWatched) station.watch();
      // What was left out takes part again.
      station.place.write('.cairnignore', '');
    }
    this.journal.note('STORM', 'calm');
    await sleep(this.#options.quietMs);
    this.#lookForDeaths();
    await Promise.all(this.#coming);
    for (const station of this.#stations) await station.stop('stop');
    const other = [...this.#violations, ...(await settle(folders, this.journal))];
    if (await agreeOnRules(folders)) other.push(...(await settle(folders, this.journal)));
    const rules = await wrongRules(folders);
    if (rules.length > 0) {
      // What they leave out cannot be compared.
      for (const folder of folders) folder.write('.cairnignore', '');
      other.push(...rules, ...(await settle(folders, this.journal)));
    }
    const different: string[] = [];
    for (const one of await silentDifferences(folders)) {
      const path = one.split(' differs in silence')[0] ?? '';
      const known = (await knownOf(folders, path)).map((line) => `\n    ${line}`);
      different.push([one, ...known, this.#storyOf(path)].join(''));
    }
    const lost = await lostStrings(this.#hub, this.#email, folders, this.ledger);
    for (const { outputs, place } of this.#stations) {
      const trace = outputs.find((output) => /\n\s+at .*:\d+/.test(output));
      if (trace !== undefined) other.push(`a stack trace in ${place.folder}: ${trace.slice(-1500)}`);
    }
    const { stdout } = await this.#hub.cli('verify', '--json');
    const verified = JSON.parse(stdout) as { ok: boolean; problems: string[] };
    if (!verified.ok) other.push(...verified.problems.slice(0, 20).map((problem) => `verify: ${problem}`));
    return { other, different, lost: lost.map((one) => this.#withStory(one)) };
  }

  /** What could not be compared, with what was wrong before that. */
  explain(error: unknown): never {
    this.#lookForDeaths();
    throw new Error([String(error), ...this.#violations].join('\n'), { cause: error });
  }

  async end(): Promise<void> {
    process.off('SIGCONT', this.#goOn);
    await Promise.allSettled(this.#coming);
    for (const station of this.#stations) await station.end();
    await this.#hub.kill();
  }

  #withStory({ sha256, folder, path, what, takenMs }: Owed & { readonly sha256: string }): string {
    return `lost ${sha256.slice(0, 12)} of ${folder.slice(-6)} ${path}: ${what}${this.#storyOf(path, takenMs)}`;
  }

  #storyOf(path: string, untilMs?: number): string {
    return this.journal
      .about(path, untilMs)
      .map((line) => `\n    ${line}`)
      .join('');
  }

  /** A watch ends only when it is told to, and so does the hub. */
  #lookForDeaths(): void {
    const { exitCode, signalCode } = this.#hub.process;
    if (this.#isHubUp && (exitCode !== null || signalCode !== null)) {
      this.#violations.push(
        `the hub ended by itself with ${signalCode ?? exitCode}: ${this.#hub.stderr().slice(-1500)}`,
      );
      this.#isHubUp = false;
      this.#await('hub', 'comes back', this.#restartHub(0));
    }
    for (const station of this.#stations) {
      const output = station.restartEnded();
      if (output === undefined) continue;
      this.#violations.push(`a watch of ${station.place.folder} ended by itself: ${output.slice(-1500)}`);
    }
  }

  #strike(): void {
    const [name, fault] = this.#pick(FAULTS);
    const one = this.#pick(this.#stations);
    const killHub = (downMs: number) => this.#killHub(downMs);
    const coming = fault({ station: () => one, sleep, killHub }, this.#random() * DOWN_MS_MAX);
    if (coming === undefined) return;
    const who = name === 'kill the hub' ? 'hub' : one.name;
    count(this.faults, name);
    this.#await(who, name, coming);
  }

  #await(who: string, name: string, coming: Promise<unknown>): void {
    this.journal.note(who, `FAULT begins: ${name}`);
    const settled: Promise<void> = coming
      .then(() => undefined)
      .catch((error: unknown) => void this.#violations.push(`a fault failed: ${name}: ${String(error)}`))
      .finally(() => {
        this.journal.note(who, `FAULT ends: ${name}`);
        this.#coming.delete(settled);
      });
    this.#coming.add(settled);
  }

  /** The hub is gone for a while, and comes back at the same address. */
  #killHub(downMs: number): Promise<void> | undefined {
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

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
