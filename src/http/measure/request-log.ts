/** Writes one log line per request. It contains no text of a header, a body or a query. */
import type { Log } from '../../common/log.ts';
import type { CallNote } from '../request/call-note.ts';
import type { RequestHead } from '../request/head.ts';
import type { ExchangeEnd } from './exchange-end.ts';

/** What the line contains about a request. */
export interface LoggedRequest {
  readonly head: Pick<RequestHead, 'id' | 'method' | 'address'>;
  readonly route: string | undefined;
  readonly accountId: string | undefined;
  /** Kind of the refusal that was sent. */
  readonly refused: string | undefined;
  /** True after the handler asked for more time to wait. */
  readonly hasWaited: boolean;
  readonly calls: readonly CallNote[];
}

type Level = 'info' | 'warn' | 'error';

/** Destinations of the request lines. */
export interface RequestLogOptions {
  readonly log: Log;
  /** Gets every line, if set. Then `log` gets only warnings and errors. */
  readonly access: Log | undefined;
  /** A request of at least this many milliseconds is a warning; 0: never. */
  readonly slowMs: number;
}

export class RequestLog {
  readonly #options: RequestLogOptions;

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  write(request: LoggedRequest, end: ExchangeEnd): void {
    const { log, access, slowMs } = this.#options;
    const isSlow = slowMs > 0 && end.ms >= slowMs && !request.hasWaited;
    const level = levelOf(request, end, isSlow);
    const isLogged = log.isLevelEnabled(level) && (access === undefined || level !== 'info');
    if (!isLogged && access === undefined) return;
    const line = lineOf(request, end, isSlow);
    if (isLogged) log[level](line, 'request');
    access?.[level](line, 'request');
  }
}

/** A failure inside HTTP 200 has the level of its usual status. */
function levelOf({ calls }: LoggedRequest, end: ExchangeEnd, isSlow: boolean): Level {
  const isError = (end.status ?? 0) >= 500 || calls.some(({ status = 0 }) => status >= 500);
  if (isError) return 'error';
  return isSlow ? 'warn' : 'info';
}

/** Undefined members are not written. */
function lineOf({ head, route, accountId, refused, calls }: LoggedRequest, end: ExchangeEnd, isSlow: boolean) {
  const told = calls.filter(({ tool, ms, code, fault }) => (tool ?? ms ?? code ?? fault) !== undefined).map(callOf);
  const only = told.length === 1 ? told[0] : undefined;
  return {
    id: head.id,
    method: head.method,
    route,
    status: end.status,
    ms: rounded(end.ms),
    bytes_in: end.bytesIn,
    bytes_out: end.bytesOut,
    account_id: accountId,
    address: head.address,
    tool: only?.tool,
    tool_ms: only?.tool_ms,
    code: only?.code,
    fault: only?.fault ?? refused,
    calls: told.length > 1 ? told : undefined,
    aborted: end.aborted || undefined,
    slow: isSlow || undefined,
  };
}

function callOf({ tool, ms, code, fault }: CallNote) {
  return { tool, tool_ms: ms === undefined ? undefined : rounded(ms), code, fault };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
