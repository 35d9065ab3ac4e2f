/** A hub whose disk fails while somebody writes: what is answered then, and what is there afterwards. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Answer } from './http.ts';
import { type Hub, startHub } from './hub.ts';
import { Ledger } from './ledger.ts';
import { download, randomCommit, sha256 } from './mirror.ts';
import { verified } from './mirror-state.ts';
import { Person, type Place } from './person.ts';
import { clockAt, sha256Of } from './sync.ts';

/** What one write was answered; undefined: the connection ended before. */
export interface Told {
  readonly what: string;
  readonly answer: Answer | undefined;
}

type Headers = Record<string, string>;

interface Try {
  readonly thing: string;
  readonly value: string | null;
  readonly send: (headers: Headers) => Promise<Answer>;
}

/** Bytes of uploads and characters of pushes: those that go in one piece, and those that are staged first. */
const UPLOADS = [900, 3_000_000];
const PUSHES = [700, 400_000];

export class FaultTrial {
  readonly place: Place;
  readonly person: Person;
  readonly #ledger: Ledger;
  readonly #kept: { readonly commit: string; readonly bytes: Buffer };
  readonly #task: { readonly name: string; readonly id: number };
  readonly #file: { readonly path: string; readonly sha256: string };
  #clockMs = Date.now() - 60_000;

  private constructor(
    place: Place,
    person: Person,
    ledger: Ledger,
    made: { readonly commit: string; readonly bytes: Buffer; readonly name: string; readonly id: number },
    file: { readonly path: string; readonly sha256: string },
  ) {
    this.place = place;
    this.person = person;
    this.#ledger = ledger;
    this.#kept = made;
    this.#task = made;
    this.#file = file;
  }

  /** A hub with an account that has a blob, a task and a file. */
  static async start(hub?: Hub): Promise<FaultTrial> {
    const ledger = new Ledger();
    const place: Place = { hub: hub ?? (await startHub()) };
    const person = await Person.arrive(place, ledger);
    const [commit, bytes, name] = [randomCommit(), randomBytes(5000), randomUUID()];
    await person.write(`blob ${person.name} ${commit}`, sha256(bytes), (headers) =>
      person.upload(commit, bytes, headers),
    );
    const task = await person.write(`task ${person.name} ${name}`, `${name} 1`, (headers) =>
      person.tool('create_task', { content: `${name} 1` }, headers),
    );
    if (task === undefined) throw new Error('the hub had no time');
    const { id } = (task.json() as { readonly task: { readonly id: number } }).task;
    const content = 'before the fault\n';
    const file = { path: 'kept.md', sha256: sha256Of(content) };
    const push = { ...file, content, hlc: clockAt(Date.now() - 120_000), device_id: 'desk', base_sha: '' };
    await person.write(`file ${person.name} ${file.path}`, file.sha256, (headers) =>
      person.tool('sync_push', push, headers),
    );
    return new FaultTrial(place, person, ledger, { commit, bytes, name, id }, file);
  }

  /** Tries every kind of write once, one after another. */
  async tryWrites(): Promise<Told[]> {
    return [...(await this.tryNewThings()), await this.#try(this.#editTask()), await this.#try(this.#deleteFile())];
  }

  /** Tries those that make something new, one after another; several clients may at once. */
  async tryNewThings(): Promise<Told[]> {
    const uploads = UPLOADS.map((bytes) => this.#upload(bytes));
    const tries = [...uploads, ...PUSHES.map((chars) => this.#push(chars)), this.#newTask()];
    const told: Told[] = [];
    for (const one of tries) told.push(await this.#try(one));
    return told;
  }

  async #try({ thing, value, send }: Try): Promise<Told> {
    const write = this.#ledger.ask(thing, value);
    const answer = await send({ 'X-Request-Id': write.id }).catch(() => undefined);
    if (answer?.status === 200) this.#ledger.acknowledge(write);
    else if (answer !== undefined) this.#ledger.takeBack(thing, write);
    return { what: `${thing.split(' ')[0]} ${value === null ? 'deleted' : ''}`.trim(), answer };
  }

  #newTask(): Try {
    const name = randomUUID();
    const content = `${name} 1`;
    const send = (headers: Headers) => this.person.tool('create_task', { content }, headers);
    return { thing: `task ${this.person.name} ${name}`, value: content, send };
  }

  createTask(): Promise<Told> {
    return this.#try(this.#newTask());
  }

  /** What was acknowledged and is not there, what was refused and is; and what `cairn verify` finds. */
  async problems(): Promise<string[]> {
    const report = await verified(this.place.hub);
    const problems = [...report.problems, ...this.#ledger.problems(await this.person.findAll())];
    if (!report.ok || report.code !== 0) problems.push(`verify ended with ${report.code}`);
    const kept = await download(this.place.hub, this.person.mirror, this.#kept.commit);
    if (!kept.bytes.equals(this.#kept.bytes)) problems.push(`the blob was answered ${kept.status}`);
    return problems;
  }

  /** Ends the hub at once if it still runs, and starts another on its data. */
  async startAgain(): Promise<void> {
    await this.place.hub.kill();
    this.place.hub = await startHub({ dataFolder: this.place.hub.dataFolder });
  }

  #upload(size: number): Try {
    const [commit, bytes] = [randomCommit(), randomBytes(size)];
    const send = (headers: Headers) => this.person.upload(commit, bytes, headers);
    return { thing: `blob ${this.person.name} ${commit}`, value: sha256(bytes), send };
  }

  #push(chars: number): Try {
    const content = randomBytes(chars / 2).toString('hex');
    const args = { path: `${randomUUID()}.md`, content, sha256: sha256Of(content), base_sha: '', ...this.#stamp() };
    const send = (headers: Headers) => this.person.tool('sync_push', args, headers);
    return { thing: `file ${this.person.name} ${args.path}`, value: args.sha256, send };
  }

  #editTask(): Try {
    const content = `${this.#task.name} ${randomUUID()}`;
    const send = (headers: Headers) => this.person.tool('update_task', { id: this.#task.id, content }, headers);
    return { thing: `task ${this.person.name} ${this.#task.name}`, value: content, send };
  }

  #deleteFile(): Try {
    const args = { path: this.#file.path, deleted: true, base_sha: this.#file.sha256, ...this.#stamp() };
    const send = (headers: Headers) => this.person.tool('sync_push', args, headers);
    return { thing: `file ${this.person.name} ${this.#file.path}`, value: null, send };
  }

  #stamp(): { readonly hlc: string; readonly device_id: string } {
    this.#clockMs += 1;
    return { hlc: clockAt(this.#clockMs), device_id: 'desk' };
  }
}
