/** Parses large bodies off the main thread, and hashes and escapes the long contents in them. */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { Refusal } from '../src/common/fault.ts';
import { contentHolders, rawContent } from '../src/gateway/body/long-contents.ts';
import { readGatewayBody } from '../src/gateway/body/read-body.ts';
import { joined, wholeBuffers } from '../src/http/request/body.ts';
import { limits } from '../src/limits/service.ts';
import type { BodyForm, BodyInput, HeldContent, ParsedBody } from '../src/pool/jobs.ts';
import { prepareContent } from '../src/sync/contents/digest.ts';

/** Parses a body. The escaped bytes of its contents and the buffers of its parts are transferred to the caller, not copied. */
export function parseBody({ parts, form }: BodyInput): ParsedBody {
  const spare = wholeBuffers(parts).filter((buffer) => buffer.byteLength === limits.readBytesMax);
  const parsed = parse(parts, form);
  const escaped = parsed.ok
    ? parsed.contents.flatMap(({ prepared }) => (prepared.ok ? [prepared.escaped.buffer] : []))
    : [];
  const transferred = { [transferableSymbol]: [...escaped, ...spare], [valueSymbol]: { ...parsed, spare } };
  return move(transferred as never) as unknown as ParsedBody;
}

function parse(parts: readonly Uint8Array[], form: BodyForm) {
  try {
    const body = readGatewayBody(joined(parts), form);
    const contents = contentHolders(body.document, form).map((holder): HeldContent => {
      const raw = rawContent(holder);
      holder.content = null;
      return { holder, encoding: raw.encoding, prepared: prepareContent(raw) };
    });
    return { ok: true, ...body, contents } as const;
  } catch (error) {
    // A class does not survive structured clone between threads, but the fault of the refusal does.
    if (error instanceof Refusal) return { ok: false, fault: error.fault } as const;
    throw error;
  }
}
