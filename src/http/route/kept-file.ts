/** Serves a file that is the same for everybody, and is kept in memory: in each coding, with its entity tag. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Coding, codingFor, codingHeaders, encoded } from '../reply/coding.ts';
import { bytes, empty, type Reply, type ReplyHeaders } from '../reply/reply.ts';
import { answerRange } from '../request/conditional.ts';

/** Describes the header that `reply` reads. */
export const IF_NONE_MATCH = z.object({
  'If-None-Match': z.string().optional().describe("ETag of the client's copy; if it still matches, the answer is 304"),
});

interface Encoded {
  readonly body: Buffer;
  readonly etag: string;
}

export class KeptFile {
  readonly #whole: Buffer;
  readonly #headers: ReplyHeaders;
  /** Compressed when first asked for, by a thread of the platform, so that no start waits for it. */
  readonly #encoded = new Map<Coding, Promise<Encoded>>();

  /** `headers`: of each answer. */
  constructor(whole: Buffer, headers: ReplyHeaders) {
    this.#whole = whole;
    this.#headers = headers;
  }

  /** The file in the best coding that the client accepts, or 304 where its copy is the same. */
  async reply(request: { header(name: string): string | undefined }): Promise<Reply> {
    const coding = codingFor(request.header('accept-encoding') ?? '');
    const { body, etag } = await this.#in(coding);
    const headers = { ...this.#headers, ETag: etag, ...codingHeaders(coding) };
    const ifNoneMatch = request.header('if-none-match');
    const asked = { ifNoneMatch, ifRange: undefined, range: undefined, etag, bytesTotal: body.length };
    return answerRange(asked).kind === 'unchanged' ? empty(304, headers) : bytes(200, body, headers);
  }

  #in(coding: Coding): Promise<Encoded> {
    const known = this.#encoded.get(coding);
    if (known !== undefined) return known;
    const made = encoded(this.#whole, coding, 'once').then((body) => ({
      body,
      etag: `"${createHash('sha256').update(body).digest('hex')}"`,
    }));
    this.#encoded.set(coding, made);
    return made;
  }
}
