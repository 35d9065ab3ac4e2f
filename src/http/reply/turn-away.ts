/** Refuses a connection above the limit: asks the client to retry later and closes it before any request. */
import { STATUS_CODES } from 'node:http';
import { limits } from '../../limits/service.ts';
import type { HttpResponse } from '../library/uws.ts';
import { refusalReply } from './status.ts';

const refusal = refusalReply({
  kind: 'overloaded',
  what: 'too many connections',
  retryAfterSeconds: limits.retryAfterSeconds,
});

/** `isSecret`: TLS. Nothing can be sent before the handshake, which is the most expensive part. */
export function turnAway(res: HttpResponse, isSecret: boolean): void {
  if (isSecret) {
    res.close();
    return;
  }
  res.cork(() => {
    res.writeStatus(`${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`);
    for (const [name, value] of Object.entries(refusal.headers)) res.writeHeader(name, value);
    res.end(refusal.body as string, true);
  });
}
