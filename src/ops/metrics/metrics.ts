/** Defines the metrics of the service: which there are, their names, and where their values come from. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ActorRegistry } from '../../actors/registry.ts';
import type { ToolTraffic } from '../../gateway/tool-traffic.ts';
import type { Admission } from '../../http/checks/admission.ts';
import type { LoopDelay } from '../../http/checks/loop-delay.ts';
import type { Rates } from '../../http/checks/rates.ts';
import type { RouteTraffic, Traffic } from '../../http/measure/traffic.ts';
import type { MemberFigures } from '../../http/route/health.ts';
import { backupAges } from '../../mirror/groups/ages.ts';
import type { Pool } from '../../pool/pool.ts';
import type { StoreStats } from '../../store/stats.ts';
import type { Store } from '../../store/store.ts';
import { counter, gauge, histogram, type Metrics, one } from './families.ts';
import { describeMember } from './member.ts';
import { describeMirror } from './mirror.ts';
import { describeOperation, type OperationSources } from './operation.ts';

export interface MetricSources extends OperationSources {
  readonly version: string;
  readonly traffic: Traffic;
  readonly toolTraffic: ToolTraffic;
  readonly rates: Rates;
  readonly admission: Admission;
  readonly loop: LoopDelay;
  readonly pool: Pool;
  readonly actors: ActorRegistry;
  readonly store: Store;
  /** Undefined: this hub has no log. */
  readonly member?: (() => MemberFigures) | undefined;
}

/**
 * Labels of requests that matched no route: the real method and path are chosen by the caller, so they are unbounded.
 */
const UNMATCHED = { method: 'any', route: 'none' } as const;

/**
 * Opens the metrics. Those of the process (memory, CPU, event loop, garbage collection) have their usual Node.js names.
 */
export function openMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Quantiles of several hubs cannot be aggregated: the histogram cairn_event_loop_delay_seconds replaces these.
  for (const part of ['p50', 'p90', 'p99']) registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`);
  // promtool rejects these gauges because they have names of counters. They are not about this service either.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  gauge(registry, { name: 'cairn_build_info', help: 'The running version.', labels: ['version'] }, () => [
    [{ version: sources.version }, 1],
  ]);
  describeTraffic(registry, sources);
  describeTools(registry, sources.toolTraffic);
  describeBounds(registry, sources);
  describePool(registry, sources.pool);
  describeActors(registry, sources.actors);
  const full = oncePerTurn(() => sources.store.stats());
  describeStore(registry, sources.store, full);
  if (sources.member !== undefined) describeMember(registry, sources.member);
  describeOperation(registry, sources, full);
  describeMirror(
    registry,
    oncePerTurn(() => backupAges(sources.store)),
  );
  return { contentType: registry.contentType, read: () => registry.metrics() };
}

function describeTraffic(registry: Registry, { traffic }: MetricSources): void {
  const route = ['method', 'route'];
  counter(
    registry,
    {
      name: 'cairn_http_requests_total',
      help: 'Finished requests, by route pattern and status; status 0: cut off before an answer.',
      labels: [...route, 'status'],
    },
    function* () {
      for (const row of traffic.routes()) {
        for (const [status, count] of row.statuses) yield [{ ...placeOf(row), status }, count];
      }
    },
  );
  histogram(
    registry,
    {
      name: 'cairn_http_request_duration_seconds',
      help: 'Time from the head of a request until the last byte of its answer is handed to the system.',
      labels: route,
    },
    function* () {
      for (const row of traffic.routes()) yield [placeOf(row), row.durations];
    },
  );
  for (const [name, field, help] of [
    ['cairn_http_received_bytes_total', 'bytesIn', 'Bytes of request bodies.'],
    ['cairn_http_sent_bytes_total', 'bytesOut', 'Bytes of answer bodies.'],
  ] as const) {
    counter(registry, { name, help, labels: route }, function* () {
      for (const row of traffic.routes()) yield [placeOf(row), row[field]];
    });
  }
  gauge(registry, { name: 'cairn_http_requests_active', help: 'Requests in progress.' }, () => one(traffic.active));
}

/** Tools by their registered names; a call of an unknown tool counts only as a refused request. */
function describeTools(registry: Registry, traffic: ToolTraffic): void {
  counter(
    registry,
    {
      name: 'cairn_tool_calls_total',
      help: 'Finished tool calls, by outcome: done, refused, or failed on a broken assumption.',
      labels: ['tool', 'outcome'],
    },
    function* () {
      for (const { tool, done, failed, refused } of traffic.tools()) {
        yield [{ tool, outcome: 'done' }, done];
        yield [{ tool, outcome: 'refused' }, [...refused.values()].reduce((sum, count) => sum + count, 0)];
        yield [{ tool, outcome: 'failed' }, failed];
      }
    },
  );
  counter(
    registry,
    { name: 'cairn_tool_refusals_total', help: 'Refused calls of tools, by reason.', labels: ['tool', 'reason'] },
    function* () {
      for (const { tool, refused } of traffic.tools()) {
        for (const [reason, count] of refused) yield [{ tool, reason }, count];
      }
    },
  );
  histogram(
    registry,
    {
      name: 'cairn_tool_call_duration_seconds',
      help: 'Time from finding a tool to its result. Includes wait_seconds, excludes content generated while it is sent.',
      labels: ['tool'],
    },
    function* () {
      for (const { tool, durations, isCalled } of traffic.tools()) if (isCalled) yield [{ tool }, durations];
    },
  );
}

/** The limits at the door: their size, their current use, and how often they were exceeded. */
function describeBounds(registry: Registry, { rates, admission, loop }: MetricSources): void {
  counter(
    registry,
    { name: 'cairn_rate_limited_total', help: 'Calls refused by a rate limit.', labels: ['limit'] },
    () => [
      [{ limit: 'calls' }, rates.refused.calls],
      [{ limit: 'sign_ins' }, rates.refused.signIns],
    ],
  );
  const { uploads, documents, streams } = admission;
  const bodies = { uploads, documents };
  for (const [name, field, help] of [
    ['cairn_inflight_bytes', 'used', 'Bytes of request bodies in memory: mirror uploads, and documents.'],
    ['cairn_inflight_bytes_max', 'max', 'CAIRN_INFLIGHT_BYTES; a caller above its share gets 503.'],
  ] as const) {
    gauge(registry, { name, help, labels: ['bodies'] }, () =>
      Object.entries(bodies).map(([kind, budget]) => [{ bodies: kind }, budget.state[field]]),
    );
  }
  gauge(registry, { name: 'cairn_connections', help: 'Open connections.' }, () => one(admission.connections));
  gauge(registry, { name: 'cairn_streams', help: 'Streamed answers in progress.' }, () => one(streams.state.used));
  histogram(
    registry,
    { name: 'cairn_event_loop_delay_seconds', help: 'Sampled delay of the event loop; see CAIRN_LOOP_DELAY_MS.' },
    () => [[{}, loop.durations]],
  );
  counter(
    registry,
    { name: 'cairn_overloaded_total', help: 'Requests refused with 503, by the limit reached.', labels: ['bound'] },
    () => Object.entries(admission.refused).map(([bound, count]) => [{ bound }, count]),
  );
}

function placeOf({ method, route }: RouteTraffic): { readonly method: string; readonly route: string } {
  return route === '' ? UNMATCHED : { method, route };
}

function describePool(registry: Registry, pool: Pool): void {
  gauge(registry, { name: 'cairn_pool_threads', help: 'Worker threads.' }, () => one(pool.load.threads));
  gauge(registry, { name: 'cairn_pool_queued', help: 'Jobs waiting for a worker thread.' }, () =>
    one(pool.load.queued),
  );
  histogram(
    registry,
    { name: 'cairn_pool_wait_duration_seconds', help: 'How long jobs waited for a worker thread.' },
    () => [[{}, pool.load.waits]],
  );
  counter(
    registry,
    { name: 'cairn_pool_jobs_total', help: 'Jobs of the worker threads, by outcome.', labels: ['job', 'outcome'] },
    function* () {
      for (const [job, { done, failed, refused }] of pool.load.jobs) {
        yield [{ job, outcome: 'done' }, done];
        yield [{ job, outcome: 'failed' }, failed];
        yield [{ job, outcome: 'refused' }, refused];
      }
    },
  );
  histogram(
    registry,
    {
      name: 'cairn_pool_job_duration_seconds',
      help: 'Time from submitting a job to the pool until its result, including the wait.',
      labels: ['job'],
    },
    function* () {
      for (const [job, { durations }] of pool.load.jobs) yield [{ job }, durations];
    },
  );
}

function describeActors(registry: Registry, actors: ActorRegistry): void {
  gauge(registry, { name: 'cairn_actors', help: 'Accounts with an active writer.' }, () => one(actors.load.actors));
  gauge(registry, { name: 'cairn_mailbox_depth', help: 'Decisions not yet on disk, over all actors.' }, () =>
    one(actors.load.decisions),
  );
  gauge(registry, { name: 'cairn_mailbox_depth_max', help: 'Decisions waiting in the fullest mailbox.' }, () =>
    one(actors.load.deepest),
  );
}

function describeStore(registry: Registry, store: Store, full: () => StoreStats): void {
  counter(registry, { name: 'cairn_store_decisions_total', help: 'Decisions committed.' }, () =>
    one(store.commits.counts.decisions),
  );
  counter(registry, { name: 'cairn_store_commits_failed_total', help: 'Commits that failed on the disk.' }, () =>
    one(store.commits.counts.failed),
  );
  histogram(
    registry,
    {
      name: 'cairn_store_commit_duration_seconds',
      help: 'Duration of group commits, from requesting the writer until they are on disk.',
    },
    () => [[{}, store.commits.durations]],
  );
  gauge(registry, { name: 'cairn_store_page_bytes', help: 'Size of one page of the data file.' }, () =>
    one(full().pageBytes),
  );
  gauge(registry, { name: 'cairn_store_pages', help: 'Pages of the data file.' }, () => one(full().pages));
  gauge(registry, { name: 'cairn_store_pages_free', help: 'Free pages, which are reused before the file grows.' }, () =>
    one(full().pagesFree),
  );
  gauge(registry, { name: 'cairn_store_disk_free_bytes', help: 'Free space on the disk of the data file.' }, () =>
    one(store.diskFreeBytes()),
  );
  const space = oncePerTurn(() => store.usable());
  gauge(
    registry,
    {
      name: 'cairn_store_space_bytes',
      help: 'Bytes that the data file can have at most: the disk, or CAIRN_MAP_BYTES if that is less.',
    },
    () => one(space().totalBytes),
  );
  gauge(
    registry,
    {
      name: 'cairn_store_space_free_bytes',
      help: 'Bytes of it that can still be written, free pages of the file included; below 5 % ordinary accounts cannot write.',
    },
    () => one(Math.max(0, space().usableBytes)),
  );
  gauge(registry, { name: 'cairn_store_table_rows', help: 'Rows by table.', labels: ['table'] }, () =>
    full().tables.map(({ name, rows }) => [{ table: name }, rows]),
  );
  gauge(registry, { name: 'cairn_store_table_bytes', help: 'Pages by table, in bytes.', labels: ['table'] }, () =>
    full().tables.map(({ name, bytes }) => [{ table: name }, bytes]),
  );
}

/** Caches a result until the next turn of the event loop: one scrape asks for the same figures several times. */
function oncePerTurn<T>(read: () => T): () => T {
  let value: { readonly read: T } | undefined;
  return () => {
    if (value === undefined) {
      value = { read: read() };
      setImmediate(() => {
        value = undefined;
      });
    }
    return value.read;
  };
}
