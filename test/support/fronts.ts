/** A hub with fronts, fronts that end when a test says so, and clients that keep one connection each. */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENT } from './http.ts';
import { type Hub, startHub } from './hub.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CRASH = fileURLToPath(new URL('./crash-front.mjs', import.meta.url));

export interface HubWithFronts extends Hub {
  /** Ends a front as a broken assumption would; 1 is the first. */
  crash(front: number): void;
}

/** `modules`: further modules loaded into every thread of the hub. */
export async function startWithFronts(
  fronts: number,
  env: Record<string, string> = {},
  modules: readonly string[] = [],
): Promise<HubWithFronts> {
  const folder = temporaryFolder();
  const imports = [CRASH, ...modules].map((module) => `--import ${module}`).join(' ');
  const hub = await startHub({
    env: { CAIRN_FRONTS: String(fronts), NODE_OPTIONS: imports, TEST_CRASH_FOLDER: folder, ...env },
  });
  return { ...hub, crash: (front) => writeFileSync(join(folder, `crash-${front}`), '') };
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** One connection, used again and again; a new one when it is lost. */
export class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url }: Pick<Hub, 'url'>, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Rejects when the connection is lost before the answer is whole. */
  send(method: string, path: string, document?: unknown): Promise<Reply> {
    const body = document === undefined ? undefined : JSON.stringify(document);
    const headers = {
      'User-Agent': AGENT,
      ...this.#headers,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#url + path, { method, headers, agent: this.#agent }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (part: string) => {
          text += part;
        });
        incoming.on('error', reject);
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** Calls a tool and gives the structured result. */
  async tool<T>(name: string, args: object): Promise<T> {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const { text } = await this.send('POST', '/api/mcp', message);
    const { result, error } = JSON.parse(text) as { result?: { structuredContent: T }; error?: unknown };
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result.structuredContent;
  }

  close(): void {
    this.#agent.destroy();
  }
}
