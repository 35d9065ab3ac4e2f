/** Owns what the bytes of a body of the gateway are: a document, and the ids in it that a parser changes. Pure. */
import { Refusal } from '../../common/fault.ts';
import { parseJson } from '../../http/request/json-body.ts';
import type { BodyForm } from '../../pool/jobs.ts';
import { type RpcId, readMessage } from '../envelope.ts';
import { changedIds, exactId } from './exact-id.ts';

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

/** The id of the one request that a body holds; undefined: it is a batch, a notification, no message, or has the id null. */
export function requestIdIn(bytes: Uint8Array): RpcId | undefined {
  try {
    const { document, ids } = readBody(bytes, { kind: 'messages', contentTools: [] });
    if (Array.isArray(document)) return undefined;
    const message = readMessage(document, exactId(document, ids[0]));
    return message.kind === 'request' || message.kind === 'invalid' ? (message.id ?? undefined) : undefined;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
