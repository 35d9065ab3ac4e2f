/** Speaks file sync to a hub: one device of one account, with its own clock. */
import { createHash } from 'node:crypto';
import { callTool, type RpcReply } from './gateway.ts';
import type { Hub } from './hub.ts';
import { account } from './mirror.ts';

export interface Pushed {
  readonly vault_id: string;
  readonly path: string;
  readonly sha256: string;
  readonly git_sha: string;
  readonly hlc: string;
  readonly previous_hlc: string | null;
  readonly size_bytes: number;
  readonly stored_at: string;
  readonly seq: number;
  readonly status: string;
  readonly warnings: string[];
}

export interface Refused {
  readonly code: number;
  readonly message: string;
  readonly data: Record<string, unknown>;
}

const NODE = '89e4f1c2a0b3d756';

export const sha256Of = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** As git counts it, without git. */
export const gitShaOf = (content: string | Uint8Array): string => {
  const bytes = Buffer.from(content);
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
};

/** A canonical clock. */
export const clockAt = (ms: number, counter = 0, node = NODE): string =>
  `${new Date(ms).toISOString()}-${counter.toString(16).toUpperCase().padStart(4, '0')}-${node}`;

export class Device {
  readonly hub: Pick<Hub, 'url'>;
  readonly key: string;
  readonly name: string;
  /** What the next clock says; moves on by a second with each. */
  ms = Date.now() - 86_400_000;

  constructor(hub: Pick<Hub, 'url'>, key: string, name = 'laptop') {
    this.hub = hub;
    this.key = key;
    this.name = name;
  }

  /** Another device of the same account. */
  other(name: string): Device {
    const other = new Device(this.hub, this.key, name);
    other.ms = this.ms;
    return other;
  }

  clock(): string {
    this.ms += 1000;
    return clockAt(this.ms);
  }

  call(tool: string, args: object): Promise<RpcReply> {
    return callTool(this.hub, tool, args, this.key);
  }

  /** The arguments of a correct push; `more` overrides, or leaves out what is undefined. */
  pushOf(path: string, content: string, more: object = {}): object {
    return { path, content, sha256: sha256Of(content), hlc: this.clock(), device_id: this.name, ...more };
  }

  async result<T = Record<string, unknown>>(tool: string, args: object): Promise<T> {
    const reply = await this.call(tool, args);
    if (reply.result === undefined) throw new Error(`${tool} was refused: ${JSON.stringify(reply.error)}`);
    return reply.result['structuredContent'] as T;
  }

  async refusal(tool: string, args: object): Promise<Refused> {
    const { error, result } = await this.call(tool, args);
    if (error === undefined) throw new Error(`${tool} was not refused: ${JSON.stringify(result)}`);
    return { data: {}, ...error };
  }

  push(path: string, content: string, more: object = {}): Promise<Pushed> {
    return this.result<Pushed>('sync_push', this.pushOf(path, content, more));
  }

  refusedPush(path: string, content: string, more: object = {}): Promise<Refused> {
    return this.refusal('sync_push', this.pushOf(path, content, more));
  }

  /** Arguments of a delete. */
  deleteOf(path: string, more: object = {}): object {
    return { path, deleted: true, hlc: this.clock(), device_id: this.name, ...more };
  }
}

/** A device of a new account. */
export async function newDevice(hub: Hub, name?: string): Promise<Device> {
  const { mcp_key: key } = await account(hub);
  return new Device(hub, key, name);
}
