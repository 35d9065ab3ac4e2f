/** Parses bodies: a small one in place, a large one with its long contents in the pool. */
import { Refusal } from '../../common/fault.ts';
import type { Caller } from '../../common/shares.ts';
import { joined, partBuffers, wholeBuffers } from '../../http/request/body.ts';
import type { BodyParser } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { BodyForm } from '../../pool/jobs.ts';
import { LongContent } from '../../pool/long-content.ts';
import type { Pool } from '../../pool/pool.ts';
import { type GatewayBody, readGatewayBody } from './read-body.ts';

/** Parses documents without messages or contents. */
export function documentParser(pool: Pool): BodyParser {
  return async (parts, { caller }) => (await parseBody(pool, parts, { kind: 'document' }, caller)).document;
}

/** Parses messages to a `GatewayBody`. Long contents for `contentTools` become `LongContent`s. */
export function messageParser(pool: Pool, contentTools: readonly string[]): BodyParser {
  return (parts, { caller }) => parseBody(pool, parts, { kind: 'messages', contentTools }, caller);
}

/** Parses the arguments of the tool `:name` of the path. */
export function argumentParser(pool: Pool, contentTools: readonly string[]): BodyParser {
  return async (parts, { caller, params: { name = '' } }) => {
    const kind = contentTools.includes(name) ? 'arguments' : 'document';
    return (await parseBody(pool, parts, { kind }, caller)).document;
  };
}

async function parseBody(
  pool: Pool,
  parts: readonly Uint8Array[],
  form: BodyForm,
  caller: Caller,
): Promise<GatewayBody> {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes <= limits.parseInlineBytesMax) return readGatewayBody(joined(parts), form);
  const body = await pool.run('parseBody', { parts, form }, caller, wholeBuffers(parts));
  for (const buffer of body.spare) partBuffers.give(buffer);
  if (!body.ok) throw new Refusal(body.fault);
  for (const { holder, encoding, prepared } of body.contents) holder.content = new LongContent(encoding, prepared);
  return body;
}
