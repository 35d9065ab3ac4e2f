/** Decides who may read the metrics: anyone who can reach their own port; on the main port, the holder of the token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import type { Rates } from '../../http/checks/rates.ts';
import { operation } from '../../http/route/operation.ts';
import type { Route, RouteRequest } from '../../http/route/route.ts';
import type { Metrics } from './families.ts';

export interface MetricsRoutes {
  /** On the main port; they require the token. */
  readonly guarded: readonly Route[];
  /** On the separate port of the metrics, reachable only from this machine. */
  readonly open: readonly Route[];
}

/** Who may read the metrics, and whose failures are counted. */
export interface MetricsAccess {
  readonly metricsPort: number | undefined;
  readonly metricsToken: string | undefined;
  readonly rates: Pick<Rates, 'countFailure'>;
}

/**
 * Returns the routes enabled by the settings. If none is enabled, nothing is collected and the library is not loaded.
 */
export async function metricsRoutes(
  { metricsPort, metricsToken, rates }: MetricsAccess,
  open: () => Promise<Metrics>,
): Promise<MetricsRoutes> {
  if (metricsPort === undefined && metricsToken === undefined) return { guarded: [], open: [] };
  const metrics = await open();
  const check = metricsToken && checkToken(metricsToken, (address) => rates.countFailure(address));
  return {
    guarded: check ? [metricsRoute(metrics, check)] : [],
    open: [metricsRoute(metrics, () => undefined)],
  };
}

function metricsRoute(metrics: Metrics, check: (request: RouteRequest) => void): Route {
  return operation({
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    tag: 'probes',
    summary: 'Figures of the service for Prometheus',
    description:
      'On the main port only when CAIRN_METRICS_TOKEN is set, and with Authorization: Bearer and that token.',
    access: 'open',
    uncounted: true,
    answer: {
      description: 'The Prometheus text format',
      content: [{ mediaType: 'text/plain', schema: { type: 'string' }, example: 'cairn_http_requests_active 1\n' }],
    },
    refusals: [401, 429],
    async reply({ request }) {
      check(request);
      const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' };
      return { status: 200, headers, body: await metrics.read() };
    },
  });
}

/** Refuses a request without the right token, compared in constant time, and counts each failure for its address. */
function checkToken(token: string, countFailure: (address: string) => void): (request: RouteRequest) => void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (request) => {
    if (timingSafeEqual(digest(request.header('authorization') ?? ''), expected)) return;
    countFailure(request.address);
    throw new Refusal({
      kind: 'unauthenticated',
      scheme: 'Bearer',
      detail: 'the metrics need Authorization: Bearer with the value of CAIRN_METRICS_TOKEN',
    });
  };
}
