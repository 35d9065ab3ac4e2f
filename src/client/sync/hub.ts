/** Owns what the sync of a folder says to its vault: which tools, in which portions, and how an answer is read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { ToolRefused } from '../tool-refused.ts';
import type { ListingTotals, ToolAnswer, ToolClient } from '../tools.ts';

/** JSON-RPC codes that say when to try again. */
const RATE_LIMITED = -32029;
const BUSY = -32007;

const recordSchema = z.object({
  type: z.enum(['file', 'deleted']),
  seq: z.number(),
  path: z.string(),
  sha256: z.string().optional(),
  content: z.string().optional(),
  encoding: z.enum(['utf-8', 'base64']).optional(),
});
const endSchema = z.object({ cursor: z.string(), has_more: z.boolean() });
const newsSchema = z.object({ total_count: z.number() });
const pushedSchema = z.object({
  status: z.string(),
  sha256: z.string(),
  seq: z.number(),
  warnings: z.array(z.string()),
});
const vaultSchema = z.object({ vault_id: z.string() });
const vaultsSchema = z.object({
  vaults: z.array(z.object({ vault_id: z.string(), name: z.string(), is_primary: z.boolean() })),
});

/** One change as the hub tells it. */
export type RemoteRecord =
  | { readonly type: 'file'; readonly path: string; readonly sha256: string; readonly bytes: Buffer }
  | { readonly type: 'deleted'; readonly path: string };

export type PushedFile = z.infer<typeof pushedSchema>;

/** Arguments of one sync_push, without the vault. */
export type PushArguments = Readonly<Record<string, unknown>> & { readonly path: string };

export class VaultHub {
  readonly #tools: ToolClient;
  readonly #vaultId: string;

  constructor(tools: ToolClient, vaultId: string) {
    this.#tools = tools;
    this.#vaultId = vaultId;
  }

  /**
   * Everything that changed since the cursor, or all there is; each change is handed on as it arrives. Resolves with the
   * next cursor.
   */
  async pull(
    cursor: string | null,
    onRecord: (record: RemoteRecord, totals: ListingTotals) => void,
  ): Promise<{ readonly cursor: string; readonly hasMore: boolean }> {
    const from = cursor === null ? { initial: true } : { cursor };
    const args = { vault_id: this.#vaultId, ...from };
    const end = await patiently(() =>
      this.#tools.stream('sync_pull', args, (record, totals) => onRecord(readRecord(record), totals)),
    );
    const parsed = endSchema.safeParse(end);
    if (!parsed.success) throw new ClientError('the hub ended a pull without a cursor; it is of another version.');
    return { cursor: parsed.data.cursor, hasMore: parsed.data.has_more };
  }

  /** True once something is newer than the cursor; false when nothing was for so long. Throws when the signal ends it. */
  async hasNews(cursor: string, waitSeconds: number, signal: AbortSignal): Promise<boolean> {
    const args = { vault_id: this.#vaultId, cursor, wait_seconds: waitSeconds, limit: 1 };
    const { structured } = await this.#tools.call('sync_pull', args, signal);
    return newsSchema.parse(structured).total_count > 0;
  }

  /** Pushes some files in one request; the outcomes are in their order. */
  async push(many: readonly PushArguments[]): Promise<(PushedFile | ToolRefused)[]> {
    const args = many.map((one) => ({ ...one, vault_id: this.#vaultId }));
    const outcomes = await patiently(() => this.#tools.callMany('sync_push', args));
    return await Promise.all(
      outcomes.map(async (outcome, index) => {
        // A busy hub refuses items one by one; these come again alone.
        if (!(outcome instanceof ToolRefused)) return pushedSchema.parse(outcome.structured);
        if (waitOf(outcome) === undefined) return outcome;
        return await this.#pushOne(args[index] ?? {});
      }),
    );
  }

  async #pushOne(args: Readonly<Record<string, unknown>>): Promise<PushedFile | ToolRefused> {
    try {
      return pushedSchema.parse((await this.call('sync_push', args)).structured);
    } catch (error) {
      if (error instanceof ToolRefused) return error;
      throw error;
    }
  }

  /** Calls a tool on the vault. */
  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> {
    return await patiently(() => this.#tools.call(name, { vault_id: this.#vaultId, ...args }));
  }
}

/** The vault of a name, made when there is none; no name: the primary vault. */
export async function findVault(tools: ToolClient, name: string | undefined): Promise<string> {
  if (name !== undefined) return vaultSchema.parse((await tools.call('vault_create', { name })).structured).vault_id;
  const { vaults } = vaultsSchema.parse((await tools.call('vault_list', {})).structured);
  const primary = vaults.find((vault) => vault.is_primary);
  if (primary === undefined) throw new ClientError('this account has no vault yet; name one with --vault.');
  return primary.vault_id;
}

/** Runs a call again while the hub says that it is too much just now, for as long as a transfer may take. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  const giveUpMs = Date.now() + limits.clientTransferSeconds * 1000;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const waitSeconds = error instanceof ToolRefused ? waitOf(error) : undefined;
      if (waitSeconds === undefined || Date.now() + waitSeconds * 1000 > giveUpMs) throw error;
      await sleep(waitSeconds * 1000);
    }
  }
}

function waitOf({ code, data }: ToolRefused): number | undefined {
  if (code !== RATE_LIMITED && code !== BUSY) return undefined;
  const seconds = data['retry_after_seconds'];
  return typeof seconds === 'number' ? Math.max(1, seconds) : 1;
}

function readRecord(given: Readonly<Record<string, unknown>>): RemoteRecord {
  const { type, path, sha256, content, encoding } = recordSchema.parse(given);
  if (type === 'deleted') return { type, path };
  if (sha256 === undefined || content === undefined) throw new ClientError('the hub sent a file without its content.');
  return { type, path, sha256, bytes: Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8') };
}
