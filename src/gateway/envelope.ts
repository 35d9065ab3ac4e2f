/** Reads and writes JSON-RPC 2.0 envelopes (jsonrpc.org/specification). Pure. */
import type { Parts } from '../http/reply/body.ts';
import { ExactNumber } from './exact-id.ts';

export type RpcId = string | number | null | ExactNumber;

export type Message =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  /** An answer to a request of this hub; `result` is undefined when it was an error. */
  | { readonly kind: 'answer'; readonly id: unknown; readonly result: unknown }
  | { readonly kind: 'invalid'; readonly id: RpcId; readonly reason: string };

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** JSON of a successful response; `result` is the JSON of an object. */
export function success(id: RpcId, result: Parts): Parts {
  return [`{"jsonrpc":"2.0","id":${idText(id)},"result":`, ...result, '}'];
}

/** JSON of an error response. Omits `id` when undefined. */
export function failure(id: RpcId | undefined, error: RpcError): string {
  const member = id === undefined ? '' : `"id":${idText(id)},`;
  return `{"jsonrpc":"2.0",${member}"error":${JSON.stringify(error)}}`;
}

/** JSON of an id. */
export function idText(id: RpcId): string {
  return id instanceof ExactNumber ? id.text : JSON.stringify(id);
}

/**
 * Reads one message. Zero and null are valid ids. `params` may be absent, null or an empty array. `exactId`: the id as
 * written, when the parser may have changed it.
 */
export function readMessage(value: unknown, exactId?: ExactNumber): Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'invalid', id: null, reason: 'a request must be a JSON object' };
  }
  const message = value as Record<string, unknown>;
  const id = exactId ?? usableId(message['id']);
  const invalid = (reason: string): Message => ({ kind: 'invalid', id: id ?? null, reason });
  if (message['jsonrpc'] !== '2.0') return invalid('jsonrpc must be "2.0"');
  const { method } = message;
  if (method === undefined && ('result' in message || 'error' in message)) {
    return { kind: 'answer', id: message['id'], result: message['result'] };
  }
  if (typeof method !== 'string') return invalid('method must be a string');
  if ('id' in message && id === undefined) return invalid('id must be a string, a number or null');
  const given = message['params'] ?? undefined;
  const params = Array.isArray(given) && given.length === 0 ? undefined : given;
  if (params !== undefined && typeof params !== 'object') return invalid('params must be an object');
  return id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id, method, params };
}

/** True when a message gets a response. */
export function isAnswered({ kind }: Message): boolean {
  return kind === 'request' || kind === 'invalid';
}

function usableId(id: unknown): RpcId | undefined {
  if (id === null || typeof id === 'string') return id;
  return typeof id === 'number' && Number.isFinite(id) ? id : undefined;
}
