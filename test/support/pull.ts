/** Pulls from a hub: as one document, as lines, page by page, and over a bare socket that reads as slowly as a test wants. */
import { connect, type Socket } from 'node:net';
import { GATEWAY, NDJSON, post, toolRequest, withKey } from './gateway.ts';
import { AGENT, type Answer } from './http.ts';
import { type Device, sha256Of } from './sync.ts';

export interface PulledLine {
  readonly type: 'file' | 'deleted';
  readonly seq: number;
  readonly path: string;
  readonly sha256: string;
  readonly content: string;
  readonly device_id: string;
  readonly stored_at: string;
  readonly encoding?: string;
}

export interface Pulled {
  readonly vault_id: string;
  readonly files: PulledLine[];
  readonly deleted: PulledLine[];
  readonly missing?: string[];
  readonly total_count: number;
  readonly total_size_bytes: number;
  readonly deleted_count: number;
  readonly cursor: string | null;
  readonly has_more: boolean;
  readonly server_time: string;
  readonly warnings: string[];
}

export interface PulledStream {
  readonly start: { readonly total_count: number; readonly total_size_bytes: number; readonly id: unknown };
  readonly lines: PulledLine[];
  readonly end: Pulled;
}

export const pull = (device: Device, args: object): Promise<Pulled> => device.result<Pulled>('sync_pull', args);

/** The answer of a pull that asks for lines. */
export function askForLines(device: Device, args: object): Promise<Answer> {
  return post(device.hub, toolRequest(7, 'sync_pull', args), { ...withKey(device.key), Accept: NDJSON });
}

export async function pullStream(device: Device, args: object): Promise<PulledStream> {
  const answer = await askForLines(device, args);
  if (answer.headers['content-type'] !== NDJSON) throw new Error(`no lines: ${answer.text.slice(0, 300)}`);
  return readStream(answer.text);
}

/** Takes a stream apart and holds every line against itself and the totals. */
export function readStream(text: string): PulledStream {
  if (!text.endsWith('\n')) throw new Error('the last line is not ended');
  const all = text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const [start, end] = [all[0], all.at(-1)] as unknown as [PulledStream['start'], Pulled];
  if (all[0]?.['type'] !== 'start' || all.at(-1)?.['type'] !== 'end') throw new Error('the stream has no frame');
  const lines = all.slice(1, -1) as unknown as PulledLine[];
  checkLines(lines);
  const files = lines.filter(({ type }) => type === 'file');
  const bytes = files.reduce((sum, line) => sum + contentOf(line).length, 0);
  if (start.total_count !== files.length) throw new Error(`${start.total_count} files announced, ${files.length} sent`);
  if (start.total_size_bytes !== bytes) throw new Error(`${start.total_size_bytes} bytes announced, ${bytes} sent`);
  if (end.deleted_count !== lines.length - files.length) throw new Error('another number of deletions was announced');
  return { start, lines, end };
}

/** In rising order, each path once, each content with its hash. */
export function checkLines(lines: readonly PulledLine[]): void {
  let last = 0;
  const paths = new Set<string>();
  for (const line of lines) {
    if (line.seq <= last) throw new Error(`#${line.seq} comes after #${last}`);
    if (paths.has(line.path)) throw new Error(`${line.path} comes twice`);
    if (line.type === 'file' && sha256Of(contentOf(line)) !== line.sha256) throw new Error(`${line.path} is damaged`);
    last = line.seq;
    paths.add(line.path);
  }
}

function contentOf({ content, encoding }: PulledLine): Buffer {
  return Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
}

/** What a device has of a vault: applies what pulls bring. */
export class Replica {
  readonly files = new Map<string, string>();

  apply(files: readonly PulledLine[], deleted: readonly PulledLine[] = []): void {
    const all = [...files, ...deleted].toSorted((a, b) => a.seq - b.seq);
    for (const { type, path, sha256 } of all) {
      if (type === 'file') this.files.set(path, sha256);
      else this.files.delete(path);
    }
  }

  /** Path and hash of everything, sorted. */
  get state(): [string, string][] {
    return [...this.files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Pulls page by page until there is no more; `between` runs after each page. */
export async function pullPages(
  device: Device,
  args: object,
  replica: Replica,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<string> {
  let page = await pull(device, args);
  for (let count = 0; ; count += 1) {
    checkLines(page.files);
    replica.apply(page.files, page.deleted);
    if (page.cursor === null) throw new Error('a page without a cursor');
    if (!page.has_more) return page.cursor;
    await between(count);
    page = await pull(device, { ...args, cursor: page.cursor });
  }
}

/** Parts of an answer that its head has surely arrived in. */
const HEAD_PARTS = 4;

/** A pull over a bare socket that takes in nothing until it is told to. */
export class SlowReader {
  readonly #socket: Socket;
  readonly #parts: Buffer[] = [];
  readonly #ended: Promise<void>;
  #sipped: Promise<void> = Promise.resolve();

  constructor(device: Device, port: number, args: object) {
    const body = JSON.stringify(toolRequest(1, 'sync_pull', args));
    this.#socket = connect({ port, host: '127.0.0.1' });
    this.#socket.on('error', () => undefined);
    this.#ended = new Promise((resolve) => this.#socket.once('close', () => resolve()));
    const fields = [
      `POST ${GATEWAY} HTTP/1.1`,
      'Host: hub',
      `User-Agent: ${AGENT}`,
      `Authorization: McpKey ${device.key}`,
      `Accept: ${NDJSON}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    this.#socket.write(`${fields.join('\r\n')}\r\n\r\n${body}`);
  }

  /** Resolves when the first bytes of the answer are here; from then on nothing is read. */
  async stall(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.once('data', (part: Buffer) => {
        this.#socket.pause();
        this.#parts.push(part);
        resolve();
      });
    });
  }

  /** Reads so much more that the system makes room for the hub to write, which takes a silent reader for dead after 10 s. */
  sip(): void {
    if (this.#socket.listenerCount('data') > 0) return;
    let left = 1_300_000;
    this.#sipped = new Promise<void>((resolve) => {
      const take = (part: Buffer) => {
        this.#parts.push(part);
        left -= part.length;
        if (left > 0) return;
        this.#socket.off('data', take);
        this.#socket.pause();
        resolve();
      };
      this.#socket.on('data', take);
      this.#socket.resume();
    });
  }

  /** Reads the rest; resolves with the body, whose length is the announced one. */
  async finish(): Promise<string> {
    await Promise.race([this.#sipped, this.#ended]);
    const closed = new Promise<void>((resolve) => {
      this.#socket.on('data', (part: Buffer) => {
        this.#parts.push(part);
        const [head = 0, length = 0] = this.#announced();
        if (Buffer.concat(this.#parts).length >= head + length) resolve();
      });
    });
    this.#socket.resume();
    await Promise.race([closed, this.#ended]);
    const [head = 0, length = 0] = this.#announced();
    const whole = Buffer.concat(this.#parts);
    if (whole.length !== head + length) throw new Error(`${length} bytes announced, ${whole.length - head} came`);
    this.vanish();
    return whole.subarray(head).toString('utf8');
  }

  vanish(): void {
    this.#socket.destroy();
  }

  /** Where the body begins, and how long it is to be. */
  #announced(): [number?, number?] {
    // The head may come in a packet of its own, and in more than one.
    const text = Buffer.concat(this.#parts.slice(0, HEAD_PARTS)).toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    return end < 0 ? [] : [end + 4, Number(/content-length: (\d+)/i.exec(text)?.[1])];
  }
}

/** Pushes many files in batches, as fast as the hub takes them. */
export async function pushMany(
  device: Device,
  files: readonly { readonly path: string; readonly content: string; readonly more?: object }[],
): Promise<void> {
  for (let at = 0; at < files.length; at += 100) {
    const items = files
      .slice(at, at + 100)
      .map(({ path, content, more = {} }, index) =>
        toolRequest(index, 'sync_push', device.pushOf(path, content, more)),
      );
    const answer = await post(device.hub, items, withKey(device.key));
    if (answer.text.includes('"error"')) throw new Error(`a push was refused: ${answer.text.slice(0, 400)}`);
  }
}
