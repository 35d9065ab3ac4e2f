/** Sends and reads large files as any client of the hub could: by REST and the tools, in chunks of a fixed size. */
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, call } from './http.ts';
import { type Device, type Pushed, sha256Of } from './sync.ts';

export const MiB = 2 ** 20;

/** A file of so many MiB. */
export const largeBytes = (mib: number): Buffer => randomBytes(mib * MiB);

export const chunksIn = (bytes: Buffer, size = MiB): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

export function listOf(chunks: readonly Buffer[]): string {
  const text = chunks.map((chunk) => `${sha256Of(chunk)}:${chunk.length}`).join(',');
  return `${text};${createHash('sha256').update(text).digest('hex')}`;
}

export class LargeFiles {
  readonly device: Device;
  readonly vaultId: string;

  constructor(device: Device, vaultId: string) {
    this.device = device;
    this.vaultId = vaultId;
  }

  ask(method: string, path: string, body?: Uint8Array | string, type = 'application/octet-stream'): Promise<Answer> {
    const headers = {
      Authorization: `McpKey ${this.device.key}`,
      'Content-Type': body === undefined ? undefined : type,
    };
    const at = `/api/vaults/${this.vaultId}/chunks${path}`;
    return call(this.device.hub, at, { method, headers, ...(body === undefined ? {} : { body }) });
  }

  put(chunk: Uint8Array, sha256 = sha256Of(chunk)): Promise<Answer> {
    return this.ask('PUT', `/${sha256}`, chunk);
  }

  async missing(sha256: readonly string[]): Promise<unknown> {
    return (await this.ask('POST', '', JSON.stringify({ sha256 }), 'application/json')).json()['missing'];
  }

  /** The arguments of the push of a large file. */
  pushOf(path: string, bytes: Buffer, more: object = {}): object {
    const content = listOf(chunksIn(bytes));
    return this.device.pushOf(path, content, { sha256: sha256Of(bytes), encoding: 'chunks', ...more });
  }

  /** Sends the chunks that are missing, then the list. */
  async push(path: string, bytes: Buffer, more: object = {}): Promise<Pushed> {
    await this.sendMissing(bytes);
    return await this.device.result<Pushed>('sync_push', { vault_id: this.vaultId, ...this.pushOf(path, bytes, more) });
  }

  /** Returns the number of chunks sent. */
  async sendMissing(bytes: Buffer): Promise<number> {
    const chunks = new Map(chunksIn(bytes).map((chunk) => [sha256Of(chunk), chunk]));
    const missing = (await this.missing([...chunks.keys()])) as string[];
    for (const sha256 of missing) {
      const { status } = await this.put(chunks.get(sha256) ?? Buffer.alloc(0));
      if (status !== 200) throw new Error(`a chunk was answered with ${status}`);
    }
    return missing.length;
  }

  /** The bytes of the current version of a path, or of what a record lists. */
  async read(path: string): Promise<Buffer> {
    const args = { vault_id: this.vaultId, path, chunks: true };
    const { content, encoding } = await this.device.result<{ content: string; encoding: string }>('sync_pull', args);
    if (encoding !== 'chunks') throw new Error(`${path} has the encoding ${encoding}`);
    const names = (content.split(';')[0] ?? '').split(',').map((item) => item.split(':')[0] ?? '');
    const parts: Buffer[] = [];
    for (const name of names) parts.push((await this.ask('GET', `/${name}`)).bytes);
    return Buffer.concat(parts);
  }
}

/** Those of the primary vault of a device. */
export async function largeFilesOf(device: Device): Promise<LargeFiles> {
  const { vault_id: vaultId } = await device.result<{ vault_id: string }>('sync_list', {});
  return new LargeFiles(device, vaultId);
}
