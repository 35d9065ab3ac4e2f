/** Owns the one line that a request leaves in the log. Nothing of it is made of a header, a body or a query. */
import type { Log } from '../../common/log.ts';
import type { Exchange, ExchangeEnd } from '../exchange.ts';

export function logRequest(log: Log, exchange: Exchange, end: ExchangeEnd): void {
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
