/**
 * Kinds of load on a hub: each does one small thing of a person. Another kind is another entry in a list.
 * What a kind writes goes through the ledger; what it reads it checks by itself.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { NDJSON, post, repliesOf, request, toolRequest, withKey } from './gateway.ts';
import { download, randomCommit, sha256 } from './mirror.ts';
import { type Person, WrongAnswer } from './person.ts';
import { readStream } from './pull.ts';
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

export function pick<T>(from: readonly T[]): T | undefined {
  return from.length === 0 ? undefined : from[randomInt(from.length)];
}

async function upload({ person, commits }: Desk, bytes: Buffer): Promise<void> {
  const commit = randomCommit();
  const send = (headers: Record<string, string>) => person.upload(commit, bytes, headers);
  if ((await person.write(`blob ${person.name} ${commit}`, sha256(bytes), send)) !== undefined) commits.push(commit);
}

async function downloadOne({ person, commits }: Desk): Promise<void> {
  const commit = pick(commits);
  if (commit === undefined) return;
  const answer = await download(person.place.hub, person.mirror, commit);
  if (answer.status === 503) return;
  const expected = person.ledger.valueOf(`blob ${person.name} ${commit}`);
  if (answer.status !== 200 || sha256(answer.bytes) !== expected) {
    throw new WrongAnswer(`the download of ${commit} was answered ${answer.status} with ${answer.bytes.length} bytes`);
  }
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
  // As long as it is not answered nobody knows what the next push would build on.
  files.delete(to);
  const answer = await person.write(`file ${person.name} ${to}`, args.sha256, (headers) =>
    person.tool('sync_push', args, headers),
  );
  if (answer !== undefined) files.set(to, args.sha256);
}

async function deleteFile(desk: Desk): Promise<void> {
  const { person, files, device } = desk;
  const path = pick([...files.keys()]);
  if (path === undefined) return;
  const args = { path, deleted: true, hlc: desk.clock(), device_id: device, base_sha: files.get(path) };
  files.delete(path);
  await person.write(`file ${person.name} ${path}`, null, (headers) => person.tool('sync_push', args, headers));
}

async function pull({ person, files }: Desk): Promise<void> {
  const path = pick([...files.keys()]);
  if (path === undefined) return;
  const answer = await person.tool('sync_pull', { path });
  if (answer.status === 503) return;
  const { content } = answer.json() as { readonly content?: string };
  const hash = content === undefined ? undefined : sha256Of(content);
  if (answer.status !== 200 || hash !== files.get(path)) {
    throw new WrongAnswer(`the pull of ${path} was answered ${answer.status} with other content`);
  }
}

async function pullLines({ person }: Desk): Promise<void> {
  const headers = { ...withKey(person.key), Accept: NDJSON };
  const answer = await post(person.place.hub, toolRequest(1, 'sync_pull', { initial: true }), headers);
  if (answer.status === 503) return;
  // It holds each line against itself and the totals.
  readStream(answer.text);
}

async function callTools({ person }: Desk): Promise<void> {
  const calls = [
    toolRequest(1, 'list_tasks', { limit: 50 }),
    toolRequest(2, 'sync_list', { limit: 100 }),
    toolRequest(3, 'list_dev_docs'),
    request(4, 'tools/list'),
  ];
  const answer = await post(person.place.hub, calls, withKey(person.key));
  if (answer.status === 503) return;
  const failed = answer.status === 200 ? repliesOf(answer).find(({ error }) => error !== undefined) : answer.status;
  if (failed !== undefined) throw new WrongAnswer(`a batch was answered ${JSON.stringify(failed)}`);
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

/** What only reads. */
export const reads: readonly Load[] = [downloadOne, downloadOne, pull, pull, pullLines, callTools];
