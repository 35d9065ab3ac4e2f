/** Declares the REST operations on large files: sending and reading their chunks, and downloading whole files. */
import { z } from 'zod';
import { Refusal } from '../common/fault.ts';
import { stream } from '../http/reply/reply.ts';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { Sync } from './service.ts';

export interface SyncRoutesOptions {
  readonly sync: Pick<Sync, 'chunks' | 'vaults'>;
  readonly access: Authenticator;
}

const BASE = '/api/vaults/:vault_id/chunks';
const BYTES = 'application/octet-stream';
const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters');
const vaultId = {
  description: 'Id of the vault',
  schema: { type: 'string' },
  example: 'v_0123456789abcdef',
  read: (text: string) => (/^v_[0-9a-f]{16}$/.test(text) ? text : undefined),
} as const;
const sha256 = {
  description: 'SHA-256 of the bytes of the chunk, in lower-case hex',
  schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  example: SHA256,
  read: (text: string) => (sha256Hex.safeParse(text).success ? text : undefined),
} as const;
const madeFile = z
  .object({
    path: z.string(),
    size_bytes: z.int().positive(),
    chunk_bytes: z.array(z.int().positive().max(limits.fileChunkBytesMax)).max(limits.fileChunksMax).optional(),
  })
  .describe('The file that these chunks will make');
const noChunk = () => new Refusal({ kind: 'not_found', what: 'this vault has no such chunk' });

const PUT_DESCRIPTION =
  `The raw bytes, at most ${limits.fileChunkBytesMax}, with Content-Length. Once all chunks of a file are stored, ` +
  'sync_push with encoding chunks makes the file. A chunk that no file has stays for ' +
  `${limits.looseChunkHours} hours after the last answer that it is here. Sending the same again is safe.`;

/** The vault that a path names; without a name it would be the primary one. */
async function vaultOf(vaults: Sync['vaults'], accountId: string, id: string | undefined): Promise<string> {
  if (id === undefined) throw new Refusal({ kind: 'not_found', what: 'there is no such vault' });
  return await vaults.idOf(accountId, id);
}

export function syncRoutes({ sync: { chunks, vaults }, access }: SyncRoutesOptions): Route[] {
  const all = { tag: 'vaults', access } as const;
  return [
    operation({
      ...all,
      method: 'PUT',
      path: `${BASE}/:hash`,
      params: { vault_id: vaultId, hash: sha256 },
      operationId: 'putChunk',
      summary: 'Stores a chunk of a large file',
      description: PUT_DESCRIPTION,
      accepts: { kind: 'stream', bytesMax: limits.fileChunkBytesMax, mediaType: BYTES },
      request: { required: true, mediaType: BYTES },
      answer: {
        description: 'It is durable on disk',
        schema: z.object({ status: z.enum(['stored', 'known']) }).meta({ title: 'PutChunk' }),
        example: { status: 'stored' },
      },
      refusals: [422, 507],
      async handle({ params, request }, { accountId }) {
        const [id, name] = [await vaultOf(vaults, accountId, params.vault_id), params.hash];
        if (name === undefined) throw noChunk();
        const body = Buffer.concat(await request.body.collect());
        return { status: await chunks.put({ accountId, vaultId: id }, name, body) };
      },
    }),
    operation({
      ...all,
      method: 'POST',
      path: BASE,
      params: { vault_id: vaultId },
      operationId: 'missingChunks',
      summary: 'Tells which chunks the vault does not have',
      description:
        'With file, a file for which the account has no room is refused before any of its bytes are sent; chunk_bytes, the bytes of each sha256, tells what it adds to the history.',
      body: z.object({ sha256: z.array(sha256Hex).min(1).max(limits.fileChunksMax), file: madeFile.optional() }),
      example: { sha256: [SHA256] },
      answer: {
        description: 'Those to send, each once',
        schema: z.object({ missing: z.array(z.string()) }).meta({ title: 'MissingChunks' }),
        example: { missing: [SHA256] },
      },
      refusals: [507],
      async handle({ params, body }, { accountId }) {
        const id = await vaultOf(vaults, accountId, params.vault_id);
        return { missing: await chunks.missing({ accountId, vaultId: id }, body.sha256, body.file) };
      },
    }),
    operation({
      ...all,
      method: 'GET',
      path: `${BASE}/:hash`,
      params: { vault_id: vaultId, hash: sha256 },
      operationId: 'getChunk',
      summary: 'Reads a chunk of a large file',
      description: 'sync_pull with chunks: true gives the chunks of a file, in order, as its content.',
      answer: { description: 'The raw bytes', content: [{ mediaType: BYTES }] },
      refusals: [422],
      async reply({ params }, { accountId }) {
        const id = await vaultOf(vaults, accountId, params.vault_id);
        const found =
          params.hash === undefined ? undefined : await chunks.whole({ accountId, vaultId: id }, params.hash);
        if (found === undefined) throw noChunk();
        return stream(200, found, { 'Content-Type': BYTES, 'Cache-Control': 'no-store' });
      },
    }),
  ];
}
