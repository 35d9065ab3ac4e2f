/** Owns what a connection above the bound gets: it is told to come again and closed, before it asks for anything. */
import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { limits } from '../../limits/service.ts';
import { refusalReply } from './status.ts';

const refusal = refusalReply({
  kind: 'overloaded',
  what: 'too many connections',
  retryAfterSeconds: limits.retryAfterSeconds,
});

/** `isSecret`: TLS, where nothing can be said before the handshake, which is what would cost most. */
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
