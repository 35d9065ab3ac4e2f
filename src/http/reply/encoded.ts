/** Encodes long texts before they are sent, in turns of their reader: others wait for a piece, not for all of it. */
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Parts } from './body.ts';
import { isFeed, isSource, type Reply } from './reply.ts';

/** UTF-16 code units encoded at once: less than a tenth of a turn. */
const PIECE_UNITS = 32 * 1024;

/** True for a whole body that takes longer than a moment to encode. */
export function isLong(body: Reply['body']): body is string | Parts {
  if (typeof body === 'string') return body.length > limits.replyBufferBytes;
  if (body === undefined || isSource(body) || isFeed(body)) return false;
  let units = 0;
  for (const part of body) if (typeof part === 'string') units += part.length;
  return units > limits.replyBufferBytes;
}

/** Returns the UTF-8 of a body. `caller`: an account or a network. */
export async function encodedInTurns(body: string | Parts, caller: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (const part of typeof body === 'string' ? [body] : body) {
    if (typeof part !== 'string') {
      pieces.push(part);
      continue;
    }
    for (let at = 0; at < part.length; ) {
      if (turns.isOver) await turns.next(caller);
      const end = pieceEnd(part, at);
      pieces.push(Buffer.from(part.slice(at, end)));
      at = end;
    }
  }
  return Buffer.concat(pieces);
}

/** A pair of surrogates is one character, and stays in one piece. */
function pieceEnd(text: string, at: number): number {
  const end = Math.min(at + PIECE_UNITS, text.length);
  const last = text.charCodeAt(end - 1);
  const cutsPair = end < text.length && last >= 0xd800 && last <= 0xdbff;
  return cutsPair ? end - 1 : end;
}
