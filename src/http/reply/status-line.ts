/** Status lines as the HTTP library takes them. Pure. */
import { STATUS_CODES } from 'node:http';

const lines: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([status, reason]) => [status, `${status} ${reason}`]),
);

/** Returns a status with its reason phrase. */
export function statusLine(status: number): string {
  return lines[status] ?? `${status} Unknown`;
}
