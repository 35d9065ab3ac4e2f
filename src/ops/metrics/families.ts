/**
 * Exposes the service's own counts as families of Prometheus metrics. Counts are read only during a scrape.
 * The library formats the text and checks the names. Observing every request through it would cost too much.
 */
import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { Histogram } from '../../common/histogram.ts';

type Labels = Readonly<Record<string, string | number>>;

/** One sample: its labels and its value. */
type Sample = readonly [labels: Labels, value: number];

export interface Metrics {
  readonly contentType: string;
  /** Returns the text of one scrape. */
  read(): Promise<string>;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A counter: its values only rise after the start of the process. */
export function counter(registry: Registry, family: Family, read: () => Iterable<Sample>): void {
  const metric = new Counter({
    name: family.name,
    help: family.help,
    labelNames: [...(family.labels ?? [])],
    registers: [registry],
    collect() {
      metric.reset();
      for (const [labels, value] of read()) metric.inc({ ...labels }, value);
    },
  });
}

/** A gauge: its values rise and fall. */
export function gauge(registry: Registry, family: Family, read: () => Iterable<Sample>): void {
  const metric = new Gauge({
    name: family.name,
    help: family.help,
    labelNames: [...(family.labels ?? [])],
    registers: [registry],
    collect() {
      metric.reset();
      for (const [labels, value] of read()) metric.set({ ...labels }, value);
    },
  });
}

/** One sample without labels. */
export function one(value: number): Iterable<Sample> {
  return [[{}, value]];
}

/**
 * Durations in buckets, in seconds. Built from rows, because a histogram of the library cannot be filled from outside.
 */
export function histogram(
  registry: Registry,
  family: Family,
  read: () => Iterable<readonly [Labels, Histogram]>,
): void {
  const values = () => [...read()].flatMap(([labels, durations]) => histogramRows(family.name, labels, durations));
  const metric = {
    name: family.name,
    help: family.help,
    type: 'histogram',
    aggregator: 'sum',
    get: () => Promise.resolve({ name: family.name, help: family.help, type: 'histogram', values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric);
}

function histogramRows(name: string, labels: Labels, durations: Histogram) {
  const buckets = durations.cumulative();
  return [
    ...buckets.map(({ boundMs, count }) => ({
      metricName: `${name}_bucket`,
      labels: { le: Number.isFinite(boundMs) ? boundMs / 1000 : '+Inf', ...labels },
      value: count,
    })),
    { metricName: `${name}_sum`, labels, value: durations.sumMs / 1000 },
    { metricName: `${name}_count`, labels, value: buckets.at(-1)?.count ?? 0 },
  ];
}
