/** Owns the one line that a request leaves in the log. Nothing of it is made of a header, a body or a query. */
import type { Log } from '../../common/log.ts';
import type { RequestHead } from '../request/head.ts';
import type { ExchangeEnd } from './exchange-end.ts';

/** What the line names of a request. */
export interface LoggedRequest {
  readonly head: Pick<RequestHead, 'id' | 'method' | 'address'>;
  readonly route: string | undefined;
  readonly accountId: string | undefined;
}

export function logRequest(log: Log, exchange: LoggedRequest, end: ExchangeEnd): void {
  const level = (end.status ?? 0) >= 500 ? 'error' : 'info';
  if (!log.isLevelEnabled(level)) return;
  const { id, method, address } = exchange.head;
  const line = {
    id,
    method,
    route: exchange.route,
    status: end.status,
    ms: Math.round(end.ms * 100) / 100,
    bytes_in: end.bytesIn,
    bytes_out: end.bytesOut,
    account_id: exchange.accountId,
    address,
    ...(end.aborted ? { aborted: true } : {}),
  };
  log[level](line, 'request');
}
