/** Parses the bytes of a gateway body. Returns the document, and the ids that the parser changed. Pure. */
import { Refusal } from '../../common/fault.ts';
import { parseJson } from '../../http/request/json-body.ts';
import type { BodyForm } from '../../pool/jobs.ts';
import { type RpcId, readMessage } from '../envelope.ts';
import { changedIds, exactId } from '../exact-id.ts';

export interface GatewayBody {
  readonly document: unknown;
  /** The ids of its messages as written, in order; empty when the parser changed none. */
  readonly ids: readonly (string | undefined)[];
}

/** Parses a body. Throws Refusal `invalid_json`. */
export function readGatewayBody(bytes: Uint8Array, form: BodyForm): GatewayBody {
  const document = parseJson(bytes);
  const ids = form.kind === 'messages' ? changedIds(document, () => Buffer.from(bytes).toString()) : [];
  return { document, ids };
}

/** The id of a body's single request; undefined for a batch, a notification, a body without message, or id null. */
export function requestIdIn(bytes: Uint8Array): RpcId | undefined {
  try {
    const { document, ids } = readGatewayBody(bytes, { kind: 'messages', contentTools: [] });
    if (Array.isArray(document)) return undefined;
    const message = readMessage(document, exactId(document, ids[0]));
    return message.kind === 'request' || message.kind === 'invalid' ? (message.id ?? undefined) : undefined;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
