/** Writes the status line and the headers of an answer: those of every answer, those of the checks, and its own. */
import { STATUS_CODES } from 'node:http';
import type { AnswerSocket } from './answer-socket.ts';
import type { Reply, ReplyHeaders } from './reply.ts';

const POLICY = 'Content-Security-Policy';
/** Status lines as the HTTP library takes them, by status. */
const statusLines: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([status, reason]) => [status, `${status} ${reason}`]),
);

/** RFC 6797: TLS only, for a year. Pages of other origins share no window group with ours (HTML standard, 7.1.3). */
const SECURE_HEADERS = {
  'Strict-Transport-Security': 'max-age=31536000',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

interface Surroundings {
  readonly requestId: string;
  /** True when browsers reach this service over TLS. */
  readonly isSecure: boolean;
  /** Sent with any answer of this request; the answer's own headers replace those of the same name. */
  readonly common: ReplyHeaders;
}

export function writeHead(res: AnswerSocket, reply: Reply, { requestId, isSecure, common }: Surroundings): void {
  res.writeStatus(statusLines[reply.status] ?? `${reply.status} Unknown`);
  res.writeHeader('X-Request-Id', requestId);
  res.writeHeader('X-Content-Type-Options', 'nosniff');
  if (isSecure) for (const [name, value] of Object.entries(SECURE_HEADERS)) res.writeHeader(name, value);
  const given = reply.headers;
  if (!Object.hasOwn(given, POLICY)) res.writeHeader(POLICY, "frame-ancestors 'none'");
  for (const name of Object.keys(common)) if (!Object.hasOwn(given, name)) res.writeHeader(name, common[name] ?? '');
  for (const name of Object.keys(given)) res.writeHeader(name, given[name] ?? '');
}
