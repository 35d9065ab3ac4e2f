/** Defines the metrics of a member that shares a log with others, whether it serves or follows. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MemberFigures } from '../../http/route/health.ts';
import { gauge, histogram, type Metrics, one } from './families.ts';

export function describeMember(registry: Registry, read: () => MemberFigures): void {
  const states = { name: 'cairn_member_state', help: 'The state of this member: 1.', labels: ['member', 'state'] };
  gauge(registry, states, () => {
    const { name: member, state } = read();
    return [[{ member, state }, 1]];
  });
  gauge(registry, { name: 'cairn_log_position', help: 'The newest record of the log that this member has.' }, () =>
    one(read().position),
  );
  gauge(registry, { name: 'cairn_log_behind_records', help: 'Records of the log that this member lacks.' }, () =>
    one(read().behind),
  );
  const lease = { name: 'cairn_member_lease_seconds', help: 'What is left of the lease; absent: it follows.' };
  gauge(registry, lease, () => {
    const { leaseLeftMs } = read();
    return leaseLeftMs === undefined ? [] : one(leaseLeftMs / 1000);
  });
  const aside = 'Files of answered writes that the log never had: read them, then remove them.';
  gauge(registry, { name: 'cairn_log_set_aside_files', help: aside }, () => one(read().set_aside));
  const age = 'Age of the oldest answered write that the log lacks; absent: writes are answered after the log.';
  gauge(registry, { name: 'cairn_log_unlogged_seconds', help: age }, () => {
    const { lag } = read();
    return lag === undefined ? [] : one(lag.ms / 1000);
  });
  const unlogged = 'Bytes of answered writes that the log lacks.';
  gauge(registry, { name: 'cairn_log_unlogged_bytes', help: unlogged }, () => {
    const { lag } = read();
    return lag === undefined ? [] : one(lag.bytes);
  });
  const appends = { name: 'cairn_log_append_duration_seconds', help: 'Time until the log had a record.' };
  histogram(registry, appends, () => {
    const { appends: durations } = read();
    return durations === undefined ? [] : [[{}, durations] as const];
  });
}

/** The metrics of a member that does not serve: its own, and those of the process. */
export function openMemberMetrics(read: () => MemberFigures): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  describeMember(registry, read);
  return { contentType: registry.contentType, read: () => registry.metrics() };
}
