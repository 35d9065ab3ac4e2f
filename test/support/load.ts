/**
 * Kinds of load on a hub: each does one small thing of a person. Another kind is another entry in the list.
 * What a kind writes goes through the ledger.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { randomCommit, sha256 } from './mirror.ts';
import type { Person } from './person.ts';
import { clockAt, sha256Of } from './sync.ts';

/** A person at one machine: what one loop of load has written, so that it can come back to it. */
export class Desk {
  readonly person: Person;
  readonly device = `desk ${randomBytes(3).toString('hex')}`;
  /** Bytes of the largest upload. */
  readonly bytesMax: number;
  readonly commits: string[] = [];
  readonly tasks = new Map<string, number>();
  /** Paths, and the hash that the next push builds on; empty: there is no file. */
  readonly files = new Map<string, string>();
  #clockMs = Date.now() - 60_000;

  constructor(person: Person, bytesMax: number) {
    this.person = person;
    this.bytesMax = bytesMax;
  }

  clock(): string {
    this.#clockMs += 1;
    return clockAt(this.#clockMs);
  }

  /** Sizes of every magnitude, each as likely as another. */
  size(): number {
    return Math.floor(this.bytesMax ** Math.random());
  }
}

export type Load = (desk: Desk) => Promise<void>;

function pick<T>(from: readonly T[]): T | undefined {
  return from.length === 0 ? undefined : from[randomInt(from.length)];
}

async function upload({ person, commits }: Desk, bytes: Buffer): Promise<void> {
  const commit = randomCommit();
  const send = (headers: Record<string, string>) => person.upload(commit, bytes, headers);
  if ((await person.write(`blob ${person.name} ${commit}`, sha256(bytes), send)) !== undefined) commits.push(commit);
}

async function createTask({ person, tasks }: Desk): Promise<void> {
  const name = randomUUID();
  const content = `${name} 1 ${'x'.repeat(randomInt(300))}`;
  const answer = await person.write(`task ${person.name} ${name}`, content, (headers) =>
    person.tool('create_task', { content }, headers),
  );
  const made = answer?.json() as { id?: number; task?: { id: number } } | undefined;
  const id = made?.id ?? made?.task?.id;
  if (id !== undefined) tasks.set(name, id);
}

async function editTask({ person, tasks }: Desk): Promise<void> {
  const [name, id] = pick([...tasks]) ?? [];
  if (name === undefined) return;
  const content = `${name} ${randomInt(2 ** 40)}`;
  await person.write(`task ${person.name} ${name}`, content, (headers) =>
    person.tool('update_task', { id, content }, headers),
  );
}

async function deleteTask({ person, tasks }: Desk): Promise<void> {
  const [name, id] = pick([...tasks]) ?? [];
  if (name === undefined) return;
  tasks.delete(name);
  await person.write(`task ${person.name} ${name}`, null, (headers) => person.tool('delete_task', { id }, headers));
}

async function pushFile(desk: Desk): Promise<void> {
  const { person, files, device } = desk;
  const path = files.size > 20 || randomInt(3) > 0 ? pick([...files.keys()]) : undefined;
  const to = path ?? `${device}/${randomUUID()}.md`;
  const content = randomBytes(Math.ceil(desk.size() / 8)).toString('base64');
  const args = {
    path: to,
    content,
    sha256: sha256Of(content),
    hlc: desk.clock(),
    device_id: device,
    base_sha: files.get(to) ?? '',
  };
  const base = files.get(to);
  // Until it is answered nobody knows what the next push would build on.
  files.delete(to);
  const answer = await person.write(`file ${person.name} ${to}`, args.sha256, (headers) =>
    person.tool('sync_push', args, headers),
  );
  if (answer !== undefined) files.set(to, args.sha256);
  else if (base !== undefined) files.set(to, base);
}

async function deleteFile(desk: Desk): Promise<void> {
  const { person, files, device } = desk;
  const path = pick([...files.keys()]);
  if (path === undefined) return;
  const args = { path, deleted: true, hlc: desk.clock(), device_id: device, base_sha: files.get(path) };
  files.delete(path);
  await person.write(`file ${person.name} ${path}`, null, (headers) => person.tool('sync_push', args, headers));
}

/** What changes something. */
export const writes: readonly Load[] = [
  (desk) => upload(desk, randomBytes(desk.size())),
  (desk) => upload(desk, randomBytes(desk.size())),
  createTask,
  createTask,
  editTask,
  deleteTask,
  pushFile,
  pushFile,
  deleteFile,
];
