/** Defines the metrics of backups: how old they are, and whether restores are proven. */
import type { Registry } from 'prom-client';
import type { BackupAges } from '../../mirror/groups/ages.ts';
import { gauge, one } from './families.ts';

/** The age of backups, per hub and not per account, whose labels are data of users. */
export function describeMirror(registry: Registry, ages: () => BackupAges): void {
  const times = [
    ['newest_upload', 'newestUploadMs', 'Newest upload of all accounts.'],
    [
      'stalest_upload',
      'stalestUploadMs',
      'Newest upload of the repository that was not backed up for the longest time.',
    ],
    ['stalest_proof', 'stalestProofMs', 'Last proven restore of the repository where it is the oldest.'],
  ] as const;
  for (const [name, member, help] of times) {
    gauge(registry, { name: `cairn_mirror_${name}_timestamp_seconds`, help }, () => {
      const ms = ages()[member];
      return ms === undefined ? [] : one(ms / 1000);
    });
  }
  const help = 'Repositories with backups, by the outcome of the newest restore drill.';
  gauge(registry, { name: 'cairn_mirror_repositories', help, labels: ['drill'] }, () =>
    Object.entries(ages().repositories).map(([drill, count]) => [{ drill }, count]),
  );
}
