/**
 * A relay in front of PostgreSQL that treats statements as a bad network, a pooler or a dying server does. It follows the
 * protocol, so it knows where a statement ends and when the server has answered it: what the server did, and what the
 * client hears of it, differ.
 */
import { connect, createServer, type Socket } from 'node:net';

/**
 * `before`: the server never gets the statement. `within`: it gets half of its bytes. `unsynced`: it gets all but the
 * order to commit. `held`: it gets the statement after the client has given up. `after`: it has committed, and the answer
 * is cut; `half`: within the answer. `mute`: no answer ever. `late`: an answer in time. `twice`: it gets the statement
 * twice, and the client hears the second answer. `warned`: a warning stands before the answer. `terminated`: the answer
 * is the error of a server that shuts down, although it has committed.
 */
export const WIRE_MISCHIEF = [
  'none',
  'before',
  'within',
  'unsynced',
  'held',
  'after',
  'half',
  'mute',
  'late',
  'twice',
  'warned',
  'terminated',
] as const;
export type WireMischief = (typeof WIRE_MISCHIEF)[number];

export interface RoughWire {
  readonly port: number;
  /** What happens to the next statement. */
  mischief: (statement: string) => WireMischief;
  /** How late an answer is that is `late`. */
  lateMs: number;
  readonly counts: Map<WireMischief, number>;
  /** Ends all connections. */
  cutAll(): void;
  close(): void;
}

const LATE_MS = 150;
/** Longer than the statements of a client may take. */
const HELD_MS = 800;

interface Message {
  /** One letter; empty: the first message of a connection has none. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Cuts a stream of the protocol into messages: a letter, a length that counts itself, a body. */
class Messages {
  #left = Buffer.alloc(0);
  #hasType: boolean;

  constructor(startsWithType: boolean) {
    this.#hasType = startsWithType;
  }

  take(bytes: Buffer): Message[] {
    this.#left = Buffer.concat([this.#left, bytes]);
    const messages: Message[] = [];
    for (;;) {
      const head = this.#hasType ? 1 : 0;
      if (this.#left.length < head + 4) return messages;
      const end = head + this.#left.readUInt32BE(head);
      if (this.#left.length < end) return messages;
      const type = this.#hasType ? this.#left.toString('latin1', 0, 1) : '';
      messages.push({ type, bytes: this.#left.subarray(0, end) });
      this.#left = this.#left.subarray(end);
      this.#hasType = true;
    }
  }
}

const joined = (messages: readonly Message[]): Buffer => Buffer.concat(messages.map(({ bytes }) => bytes));

/** The SQL of an exchange: a Parse message has a name before it. */
function statementOf(exchange: readonly Message[]): string {
  const found = exchange.find(({ type }) => type === 'P' || type === 'Q');
  const [first = '', second = ''] = found?.bytes.toString('utf8', 5).split('\0') ?? [];
  return found?.type === 'P' ? second : first;
}

/** An error or a warning as the server writes it: fields of a letter and a text each. */
function report(type: 'E' | 'N', severity: string, code: string, text: string): Buffer {
  const body = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${text}\0\0`);
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const WARNING = report('N', 'WARNING', '01000', 'canceling wait for synchronous replication due to user request');
const TERMINATED = report('E', 'FATAL', '57P01', 'terminating connection due to administrator command');

/** One connection of a client, and the one to the server that belongs to it. */
class Wire {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #rough: RoughWire;
  readonly #asked = new Messages(false);
  readonly #answered = new Messages(true);
  #exchange: Message[] = [];
  #answer: Message[] = [];
  #mischief: WireMischief = 'none';
  #swallows = 0;

  constructor(client: Socket, port: number, rough: RoughWire) {
    this.#client = client;
    this.#server = connect(port, '127.0.0.1');
    this.#rough = rough;
    for (const socket of [client, this.#server]) socket.setNoDelay(true).on('error', () => undefined);
    client.on('data', (bytes: Buffer) => {
      for (const message of this.#asked.take(bytes)) this.#ask(message);
    });
    this.#server.on('data', (bytes: Buffer) => {
      for (const message of this.#answered.take(bytes)) this.#hear(message);
    });
    this.#server.on('close', () => client.destroy());
    client.on('close', () => {
      if (this.#mischief !== 'held') this.#server.destroy();
    });
  }

  #ask(message: Message): void {
    this.#exchange.push(message);
    // The first message, and those of signing in, wait for no commit.
    if (
      message.type !== 'S' &&
      message.type !== 'Q' &&
      this.#exchange.some(({ type }) => 'PBDEC'.includes(type || '-'))
    )
      return;
    const exchange = this.#exchange;
    this.#exchange = [];
    if (message.type !== 'S' && message.type !== 'Q') return void this.#server.write(message.bytes);
    const { mischief, counts } = this.#rough;
    this.#mischief = mischief(statementOf(exchange));
    counts.set(this.#mischief, (counts.get(this.#mischief) ?? 0) + 1);
    this.#swallows = this.#mischief === 'twice' ? 1 : 0;
    const bytes = joined(exchange);
    if (this.#mischief === 'before') this.#cut();
    else if (this.#mischief === 'within') this.#sendLast(bytes.subarray(0, bytes.length / 2));
    else if (this.#mischief === 'unsynced') this.#sendLast(joined(exchange.slice(0, -1)));
    else if (this.#mischief === 'held') setTimeout(() => this.#sendLast(bytes), HELD_MS);
    else this.#server.write(this.#mischief === 'twice' ? Buffer.concat([bytes, bytes]) : bytes);
  }

  #hear(message: Message): void {
    this.#answer.push(message);
    // `Z`: the server waits for the next statement, so this one is committed.
    if (message.type !== 'Z' && this.#mischief !== 'none') return;
    const bytes = joined(this.#answer);
    this.#answer = [];
    if (this.#swallows > 0) this.#swallows -= 1;
    else this.#tell(bytes);
  }

  /** What the client hears of an answer. */
  #tell(bytes: Buffer): void {
    const mischief = this.#mischief;
    this.#mischief = 'none';
    if (mischief === 'after') this.#cut();
    else if (mischief === 'half') this.#client.write(bytes.subarray(0, bytes.length / 2), () => this.#cut());
    else if (mischief === 'terminated') this.#client.write(TERMINATED, () => this.#cut());
    else if (mischief === 'late') setTimeout(() => this.#client.write(bytes), this.#rough.lateMs);
    else if (mischief === 'warned') this.#client.write(Buffer.concat([WARNING, bytes]));
    else if (mischief !== 'mute') this.#client.write(bytes);
  }

  /** The server gets these bytes and then the end of the connection, as it is when a network breaks. */
  #sendLast(bytes: Buffer): void {
    this.#server.end(bytes);
    this.#client.destroy();
  }

  #cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }
}

/** Listens on `host`, and sends what it lets through to the server on loopback at `port`. */
export async function startRoughWire(port: number, host = '127.0.0.1'): Promise<RoughWire> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
    new Wire(client, port, rough);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const rough: RoughWire = {
    port: (server.address() as { port: number }).port,
    mischief: () => 'none',
    lateMs: LATE_MS,
    counts: new Map(),
    cutAll() {
      for (const client of clients) client.destroy();
    },
    close() {
      server.close();
      rough.cutAll();
    },
  };
  return rough;
}
