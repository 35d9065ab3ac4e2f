/** Defines the metrics for alerts of an operator: damage, disk space, backups, certificates, and numbers of rows. */
import type { Registry } from 'prom-client';
import type { AuditLog } from '../../audit/log.ts';
import type { WebhookFigures } from '../../events/webhooks/sender.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import type { Damage } from '../../store/data-file/damage.ts';
import type { StoreStats } from '../../store/stats.ts';
import { CONDITION_NAMES } from '../conditions/rules.ts';
import type { ConditionWatch } from '../conditions/watch.ts';
import { type Chore, lastDone, lastFollowed } from '../marks.ts';
import { counter, gauge, one } from './families.ts';

export interface OperationSources {
  readonly dataFolder: string;
  readonly mapBytes: number;
  readonly damage: Damage;
  readonly conditions: Pick<ConditionWatch, 'current'>;
  readonly audit: Pick<AuditLog, 'failedSignIns'>;
  readonly quotas: Quotas;
  /** When the TLS certificate of new connections expires, in milliseconds; undefined: no certificate. */
  readonly certificateExpiresMs: () => number | undefined;
  /** Number of pulls waiting for a change. */
  readonly waitingPulls: () => number;
  /** Messages to webhooks. */
  readonly webhookFigures: () => WebhookFigures;
  /** Number of log lines that could not be written. */
  readonly droppedLines: () => number;
}

/** Tables whose rows are counted. */
const COUNTED = [
  ['cairn_accounts', 'accounts', 'Accounts.'],
  ['cairn_blobs', 'mirror_blobs', 'Blobs of the mirror.'],
  ['cairn_files', 'sync_files', 'Files of all vaults, deleted ones included.'],
  ['cairn_versions', 'sync_versions', 'Kept versions of files.'],
  ['cairn_conflicts_pending', 'sync_pending', 'Unresolved conflicts.'],
  ['cairn_tasks', 'tasks', 'Tasks, deleted ones included.'],
] as const;

export function describeOperation(registry: Registry, sources: OperationSources, full: () => StoreStats): void {
  describeConditions(registry, sources.conditions);
  describeDamage(registry, sources);
  describeChores(registry, sources.dataFolder);
  describeQuotas(registry, sources.quotas);
  const table = (name: string) => full().tables.find((one) => one.name === name);
  for (const [name, rows, help] of COUNTED) gauge(registry, { name, help }, () => one(table(rows)?.rows ?? 0));
  gauge(registry, { name: 'cairn_blob_bytes', help: 'Bytes of the pages that store blobs.' }, () =>
    one(table('mirror_chunks')?.bytes ?? 0),
  );
  gauge(registry, { name: 'cairn_store_bytes', help: 'Size of the data file.' }, () =>
    one(full().pages * full().pageBytes),
  );
  gauge(registry, { name: 'cairn_store_map_bytes', help: 'CAIRN_MAP_BYTES: the maximum size of the data file.' }, () =>
    one(sources.mapBytes),
  );
  gauge(registry, { name: 'cairn_pulls_waiting', help: 'Pulls waiting for a change.' }, () =>
    one(sources.waitingPulls()),
  );
  counter(
    registry,
    {
      name: 'cairn_webhook_deliveries_total',
      help: 'Tries to deliver an event to a webhook, by outcome.',
      labels: ['outcome'],
    },
    () => {
      const { delivered, failed } = sources.webhookFigures();
      return [
        [{ outcome: 'delivered' }, delivered],
        [{ outcome: 'failed' }, failed],
      ];
    },
  );
  counter(
    registry,
    { name: 'cairn_webhooks_disabled_total', help: 'Webhooks turned off because no event could be delivered.' },
    () => one(sources.webhookFigures().disabled),
  );
  counter(
    registry,
    {
      name: 'cairn_sign_ins_failed_total',
      help: 'Failed sign-ins with a password or code, by reason.',
      labels: ['reason'],
    },
    () => [...sources.audit.failedSignIns].map(([reason, count]) => [{ reason }, count]),
  );
  counter(
    registry,
    { name: 'cairn_log_lines_dropped_total', help: 'Log lines dropped because they were not read in time.' },
    () => one(sources.droppedLines()),
  );
  gauge(
    registry,
    { name: 'cairn_tls_certificate_expiry_timestamp_seconds', help: 'Expiry of the TLS certificate.' },
    () => {
      const expiresMs = sources.certificateExpiresMs();
      return expiresMs === undefined ? [] : one(expiresMs / 1000);
    },
  );
}

function describeConditions(registry: Registry, conditions: OperationSources['conditions']): void {
  gauge(
    registry,
    { name: 'cairn_condition', help: '1 while the hub is in this condition; see /ready.', labels: ['condition'] },
    () => {
      const holding = new Set(conditions.current().map(({ name }) => name));
      return CONDITION_NAMES.map((condition) => [{ condition }, holding.has(condition) ? 1 : 0]);
    },
  );
}

function describeQuotas(registry: Registry, quotas: Quotas): void {
  counter(
    registry,
    {
      name: 'cairn_quota_refusals_total',
      help: 'Writes refused by the quota of a kind, or (reserve) because the disk is nearly full.',
      labels: ['kind'],
    },
    () => Object.entries(quotas.refusals).map(([kind, count]) => [{ kind }, count]),
  );
  gauge(
    registry,
    { name: 'cairn_store_reserved', help: '1 while the disk is so full that only marked accounts can write.' },
    () => one(quotas.isReserved ? 1 : 0),
  );
}

function describeDamage(registry: Registry, { damage }: OperationSources): void {
  counter(
    registry,
    {
      name: 'cairn_damage_found_total',
      help: 'Reads of stored bytes that did not match their hash.',
      labels: ['kind'],
    },
    () => Object.entries(damage.found).map(([kind, count]) => [{ kind }, count]),
  );
  counter(registry, { name: 'cairn_damage_healed_total', help: 'Damaged contents replaced by intact bytes.' }, () =>
    one(damage.healed),
  );
}

function describeChores(registry: Registry, folder: string): void {
  const chores: readonly (readonly [Chore, string])[] = [
    ['backup', 'cairn backup'],
    ['verify', 'cairn verify'],
  ];
  for (const [chore, command] of chores) {
    gauge(
      registry,
      { name: `cairn_last_${chore}_timestamp_seconds`, help: `When ${command} last ended; absent: never.` },
      () => {
        const last = lastDone(folder, chore);
        return last === undefined ? [] : one(last.at_ms / 1000);
      },
    );
  }
  gauge(
    registry,
    {
      name: 'cairn_follow_lag_seconds',
      help: 'Age of the newest moment that `cairn follow` has copied; absent: never.',
    },
    () => {
      const last = lastFollowed(folder);
      return last === undefined ? [] : one(Math.max(0, Date.now() - last.at_ms) / 1000);
    },
  );
  gauge(registry, { name: 'cairn_last_verify_problems', help: 'Problems that the last `cairn verify` found.' }, () => {
    const last = lastDone(folder, 'verify');
    return last === undefined ? [] : one(last.problems);
  });
  gauge(
    registry,
    { name: 'cairn_last_verify_set_aside', help: 'Damaged contents set aside at the last `cairn verify`.' },
    () => {
      const last = lastDone(folder, 'verify');
      return last?.set_aside === undefined ? [] : one(last.set_aside);
    },
  );
}
