/** Builds a refusal on the REST route of a tool: the REST form plus the gateway's JSON-RPC code and data. */
import type { Fault } from '../common/fault.ts';
import type { Reply } from '../http/reply/reply.ts';
import { refusalReply } from '../http/reply/status.ts';
import { rpcError } from './codes.ts';

export function toolRefusal(fault: Fault): Reply {
  const plain = refusalReply(fault);
  const { code, message, data } = rpcError(fault);
  const body = {
    ...(JSON.parse(plain.body as string) as object),
    error: message,
    code,
    ...(data === undefined ? {} : { data }),
  };
  return { ...plain, body: JSON.stringify(body) };
}
