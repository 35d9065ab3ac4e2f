/** Defines the tool that answers when the last backup of each repository was made, and whether a restore was proven. */
import { z } from 'zod';
import { defineTool, READS, type Tool } from '../gateway/tool.ts';
import { limits } from '../limits/service.ts';
import type { ArchiveGroup, BlobReads } from './blob-reads.ts';
import { blobs, drills } from './records.ts';

const backup = z.object({
  repository: z.string().nullable().describe('Name of the repository; null: uploads without one'),
  repository_id: z.string().nullable(),
  archives: z.int(),
  bytes: z.int(),
  last_backup: z.string().describe('ISO 8601 UTC'),
  commit_sha: z.string(),
  last_proven_restore: z.string().nullable().describe('ISO 8601 UTC; null: never'),
  last_drill: z.enum(['proven', 'failed']).nullable(),
});

type Backup = z.output<typeof backup>;

export function backupTools(stored: Pick<BlobReads, 'groups'>): Tool[] {
  return [
    defineTool({
      name: 'list_backups',
      title: 'List backups',
      access: 'account',
      description: 'When each git repository was last backed up, and when a restore of it was last proven.',
      input: z.strictObject({}),
      output: z.object({ backups: z.array(backup) }),
      annotations: READS,
      madeFrom: [blobs, drills],
      example: {},
      handle(_args, { accountId }) {
        const { backups, next } = newest(stored, accountId);
        const more = next === undefined ? [] : ['more repositories: GET /api/cert_mirror/repositories lists them all'];
        const text = backups.length === 0 ? ['no backups yet'] : backups.map(line);
        return { structured: { backups }, text: [...text, ...more].join('\n') };
      },
    }),
  ];
}

/** The last backups of the account, the newest first, one line each. */
export function backupLines(stored: Pick<BlobReads, 'groups'>, accountId: string): string[] {
  return newest(stored, accountId).backups.map(line);
}

function newest(stored: Pick<BlobReads, 'groups'>, accountId: string) {
  const { groups, next } = stored.groups(accountId, { limit: limits.blobPageDefault });
  return { backups: groups.map(shown).sort((one, other) => other.last_backup.localeCompare(one.last_backup)), next };
}

function shown({ repositoryId, record, newest, proof }: ArchiveGroup): Backup {
  return {
    repository: record.label,
    repository_id: repositoryId,
    archives: record.archives,
    bytes: record.bytes,
    last_backup: newest.record.uploaded_at,
    commit_sha: newest.commitSha,
    last_proven_restore: proof?.last_proven?.at ?? null,
    last_drill: proof?.last_drill.outcome ?? null,
  };
}

function line({ repository, repository_id, archives, bytes, last_backup, commit_sha, ...proof }: Backup): string {
  const name = repository ?? repository_id?.slice(0, 12) ?? 'unknown repository';
  const failed = proof.last_drill === 'failed' ? '; the last drill failed' : '';
  const proven =
    proof.last_proven_restore === null ? 'restore never proven' : `restore proven ${proof.last_proven_restore}`;
  const id = repository_id === null ? '' : ` [${repository_id}]`;
  return `${name}${id}: last backup ${last_backup}, commit ${commit_sha}, archives: ${archives} (${bytes} bytes); ${proven}${failed}`;
}
