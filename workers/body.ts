/** Parses large bodies off the main thread, and hashes and escapes the long contents in them. */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { Refusal } from '../src/common/fault.ts';
import { contentPlaces, holdsLong, rawContent } from '../src/gateway/body/long-contents.ts';
import { readGatewayBody } from '../src/gateway/body/read-body.ts';
import { joined, wholeBuffers } from '../src/http/request/body.ts';
import { limits } from '../src/limits/service.ts';
import type { BodyForm, BodyInput, HeldContent, ParsedBody } from '../src/pool/jobs.ts';
import { prepareRawContent } from '../src/sync/contents/digest.ts';
import { cutJson } from '../src/text/json-pieces.ts';

/**
 * Parses a body. The escaped bytes of its contents, the buffers of its parts, and the text of a document with many
 * values, are transferred to the caller, not copied.
 */
export function parseBody({ parts, form }: BodyInput): ParsedBody {
  const spare = wholeBuffers(parts).filter((buffer) => buffer.byteLength === limits.readBytesMax);
  const parsed = parse(parts, form);
  const escaped = parsed.ok
    ? parsed.contents.flatMap(({ prepared }) => (prepared.ok ? [prepared.escaped.buffer] : []))
    : [];
  const text = parsed.ok && 'text' in parsed.document ? [parsed.document.text.buffer] : [];
  const transferred = { [transferableSymbol]: [...escaped, ...spare, ...text], [valueSymbol]: { ...parsed, spare } };
  return move(transferred as never) as unknown as ParsedBody;
}

function parse(parts: readonly Uint8Array[], form: BodyForm) {
  try {
    const bytes = joined(parts);
    const { document, ids } = readGatewayBody(bytes, form);
    const contents = contentPlaces(document, form).flatMap((place, at): HeldContent[] => {
      if (!holdsLong(place)) return [];
      const raw = rawContent(place);
      place.content = null;
      return [{ at, encoding: raw.encoding, prepared: prepareRawContent(raw) }];
    });
    const text = contents.length === 0 ? bytes : Buffer.from(JSON.stringify(document));
    return { ok: true, document: documentOf(document, text), ids, contents, bytes: text.length } as const;
  } catch (error) {
    // A class does not survive structured clone between threads, but the fault of the refusal does.
    if (error instanceof Refusal) return { ok: false, fault: error.fault } as const;
    throw error;
  }
}

/** Few values are cloned by the thread that receives them. For many that takes longer than parsing their text. */
function documentOf(document: unknown, text: Uint8Array): (ParsedBody & { ok: true })['document'] {
  const cut = cutJson(text, { values: limits.parsePieceValues, bytes: limits.parsePieceBytes });
  if (cut === undefined || cut.values <= limits.parsePieceValues) return { value: document };
  return { cut, text: new Uint8Array(text) };
}
