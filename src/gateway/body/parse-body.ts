/**
 * Parses bodies: a small one in place. A large one is checked in the pool, which also hashes its long contents; many
 * values are then parsed here, in turns.
 */
import { OneEach } from '../../common/fair/one-each.ts';
import { Refusal } from '../../common/fault.ts';
import type { Caller } from '../../common/shares.ts';
import { turns } from '../../common/turns.ts';
import { joined, partBuffers, wholeBuffers } from '../../http/request/body.ts';
import { mayHaveValues } from '../../http/request/json-body.ts';
import type { BodyParser } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { turnNameOf } from '../../pool/job-turns.ts';
import type { BodyForm, ParsedBody } from '../../pool/jobs.ts';
import { LongContent } from '../../pool/long-content.ts';
import type { Pool } from '../../pool/pool.ts';
import { assembled } from '../../text/json-pieces.ts';
import { type ContentHolder, contentPlaces } from './long-contents.ts';
import { type GatewayBody, readGatewayBody } from './read-body.ts';

/** The large bodies that are being parsed. */
const parsing = new OneEach();

/** Parses documents without messages or contents. */
export function documentParser(pool: Pool): BodyParser {
  return (parts, { caller }) => documentIn(parseBody(pool, parts, { kind: 'document' }, caller));
}

/** Parses messages to a `GatewayBody`. Long contents for `contentTools` become `LongContent`s. */
export function messageParser(pool: Pool, contentTools: readonly string[]): BodyParser {
  return (parts, { caller }) => parseBody(pool, parts, { kind: 'messages', contentTools }, caller);
}

/** Parses the arguments of the tool `:name` of the path. */
export function argumentParser(pool: Pool, contentTools: readonly string[]): BodyParser {
  return (parts, { caller, params: { name = '' } }) => {
    const kind = contentTools.includes(name) ? 'arguments' : 'document';
    return documentIn(parseBody(pool, parts, { kind }, caller));
  };
}

function documentIn(parsed: GatewayBody | Promise<GatewayBody>): unknown {
  return parsed instanceof Promise ? parsed.then(({ document }) => document) : parsed.document;
}

/** A small body is parsed at once, without a promise. */
function parseBody(
  pool: Pool,
  parts: readonly Uint8Array[],
  form: BodyForm,
  caller: Caller,
): GatewayBody | Promise<GatewayBody> {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes <= limits.parseInlineBytesMax && !mayHaveValues(parts, limits.parseInlineValuesMax)) {
    return readGatewayBody(joined(parts), form);
  }
  return parseLarge(pool, parts, form, caller);
}

async function parseLarge(
  pool: Pool,
  parts: readonly Uint8Array[],
  form: BodyForm,
  caller: Caller,
): Promise<GatewayBody> {
  const name = turnNameOf(caller);
  const read = async (): Promise<{ readonly body: ValidBody; readonly document: unknown }> => {
    const body = await pool.run('parseBody', { parts, form }, caller, wholeBuffers(parts));
    for (const buffer of body.spare) partBuffers.give(buffer);
    if (!body.ok) throw new Refusal(body.fault);
    return { body, document: await documentOf(body, name) };
  };
  const { body, document } = await parsing.run(name, read, (made) => restAfterMs(made.body));
  const places = body.contents.length === 0 ? [] : contentPlaces(document, form);
  for (const { at, encoding, prepared } of body.contents) {
    (places[at] as ContentHolder).content = new LongContent(encoding, prepared);
  }
  return { document, ids: body.ids };
}

type ValidBody = ParsedBody & { readonly ok: true };

/** How long the next large body of the caller waits, in milliseconds. */
function restAfterMs({ document, bytes }: ValidBody): number {
  const values = 'cut' in document ? document.cut.values : 0;
  return 1000 * Math.max(values / limits.parsedValuesPerSecond, bytes / limits.parsedBytesPerSecond);
}

async function documentOf({ document }: ValidBody, caller: string): Promise<unknown> {
  if ('value' in document) return document.value;
  const { buffer, byteOffset, byteLength } = document.text;
  const text = Buffer.from(buffer, byteOffset, byteLength);
  return await assembled(document.cut, text, () => (turns.isOver ? turns.next(caller) : undefined));
}
