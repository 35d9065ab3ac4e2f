/** Mixed load on a hub that is killed now and then: what was answered meanwhile, and what is left of memory afterwards. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Hub, startHub } from './hub.ts';
import { Ledger } from './ledger.ts';
import { Desk, type Load, pick, reads, writes } from './load.ts';
import { verified } from './mirror-state.ts';
import { Person, type Place } from './person.ts';
import { roughs } from './rough-load.ts';

const PEOPLE = 3;
const DESKS_PER_PERSON = 3;
/** Of the largest upload; a push has an eighth of it. */
const BYTES_MAX = 4_000_000;
/** Between two things that one desk does: as long at the most. */
const PAUSE_MS_MAX = 40;
const KINDS: readonly (readonly Load[])[] = [writes, writes, writes, reads, reads, roughs];

export interface SoakCounts {
  /** Things done at all desks. */
  done: number;
  /** Things that a kill cut off. */
  cutOff: number;
  kills: number;
}

export class Soak {
  readonly place: Place;
  readonly ledger: Ledger;
  readonly counts: SoakCounts = { done: 0, cutOff: 0, kills: 0 };
  /** Wrong answers, and connections that ended though the hub ran. */
  readonly problems: string[] = [];
  readonly #people: Person[] = [];
  readonly #desks: Desk[] = [];
  /** The hub that is being killed, or was. */
  #gone: Hub | undefined;

  private constructor(place: Place, ledger: Ledger) {
    this.place = place;
    this.ledger = ledger;
  }

  static async start(): Promise<Soak> {
    const soak = new Soak({ hub: await startHub() }, new Ledger());
    for (let count = 0; count < PEOPLE; count += 1) {
      const person = await Person.arrive(soak.place, soak.ledger);
      soak.#people.push(person);
      for (let desk = 0; desk < DESKS_PER_PERSON; desk += 1) soak.#desks.push(new Desk(person, BYTES_MAX));
    }
    return soak;
  }

  /** Load at every desk for so long; all of it has ended when this resolves. */
  async load(ms: number): Promise<void> {
    const end = Date.now() + ms;
    await Promise.all(this.#desks.map((desk) => this.#work(desk, () => Date.now() < end)));
  }

  /** Load at every desk, and a kill -9 in the middle of it, after so long. Starts the next hub on the same data. */
  async loadAndKill(ms: number): Promise<void> {
    const { hub } = this.place;
    const work = Promise.all(this.#desks.map((desk) => this.#work(desk, () => this.#gone !== hub)));
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#gone = hub;
    this.counts.kills += 1;
    await hub.kill();
    await work;
    this.place.hub = await startHub({ dataFolder: hub.dataFolder });
  }

  /** What was acknowledged and is missing, or there and never written. */
  async missing(): Promise<string[]> {
    const found = new Map<string, string>();
    for (const person of this.#people) for (const entry of await person.findAll()) found.set(...entry);
    return this.ledger.problems(found);
  }

  /** What `cairn verify` finds. */
  async damage(): Promise<string[]> {
    const { code, ok, problems, staged_uploads: staged } = await verified(this.place.hub);
    return [
      ...problems,
      ...(ok && code === 0 ? [] : [`verify ended with ${code}`]),
      ...(staged > 0 ? ['staged uploads'] : []),
    ];
  }

  /** Memory of the hub that nobody can take back from it: neither file nor map. In bytes. */
  anonymousBytes(): number {
    const status = readFileSync(`/proc/${this.place.hub.process.pid}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async #work(desk: Desk, goesOn: () => boolean): Promise<void> {
    const { hub } = this.place;
    while (goesOn()) {
      const kind = pick(pick(KINDS) ?? []);
      try {
        await kind?.(desk);
        this.counts.done += 1;
      } catch (error) {
        if (this.#gone === hub) this.counts.cutOff += 1;
        else this.problems.push(String(error));
      }
      await new Promise((resolve) => setTimeout(resolve, randomInt(PAUSE_MS_MAX)));
    }
  }
}
