/** Owns what the bytes of a body of the gateway are: a document, and the ids in it that a parser changes. Pure. */
import { parseJson } from '../../http/request/json-body.ts';
import type { BodyForm } from '../../pool/jobs.ts';
import { changedIds } from './exact-id.ts';

export interface GatewayBody {
  readonly document: unknown;
  /** The ids of its messages as they were written, in their order; none where the parser changed none. */
  readonly ids: readonly (string | undefined)[];
}

/** Parses a body. Refuses with `invalid_json`. */
export function readBody(bytes: Uint8Array, form: BodyForm): GatewayBody {
  const document = parseJson(bytes);
  const ids = form.kind === 'messages' ? changedIds(document, () => Buffer.from(bytes).toString()) : [];
  return { document, ids };
}
