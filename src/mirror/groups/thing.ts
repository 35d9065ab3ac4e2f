/** Declares repositories with backups as things with an id. They have names only: archives are encrypted. */
import type { Thing, ThingKind } from '../../ids/thing.ts';
import { UNKNOWN_GROUP } from '../declared.ts';
import { blobs, type RepositoryRecord, repositories, repositoryOrder } from '../records.ts';

const TEMPLATE = 'cairn://backups/{repository}';

export const backupThings: ThingKind = {
  kind: 'backup',
  templates: [TEMPLATE],
  find: (_reader, _accountId, { repository }) => repository,
  read(reader, accountId, key) {
    const record = reader.get(repositories, [accountId, key]);
    const [newest] = reader.range(repositoryOrder, { prefix: [accountId, key], reverse: true, limit: 1 });
    const blob = newest && reader.get(blobs, [accountId, newest.value.commit_sha, newest.value.sha256]);
    return record && blob && thingOf(key, record, newest.value.commit_sha, blob.uploaded_at);
  },
  *keys(reader, accountId, after = '') {
    for (const [, group] of reader.keysIn(repositories, { prefix: [accountId], beyond: after })) yield group;
  },
  writtenBy: [{ table: repositories, keyOf: ([, group]) => String(group) }],
};

/** Changes with each archive, which is enough: the rest of a thing is read when it is shown. */
function backupStamp({ archives, bytes }: RepositoryRecord): number {
  return bytes + archives;
}

function thingOf(group: string, record: RepositoryRecord, commit: string, uploadedAt: string): Thing {
  const name = group === UNKNOWN_GROUP ? 'Unknown repository' : group.slice(0, 12);
  return {
    id: TEMPLATE.replace('{repository}', encodeURIComponent(group)),
    kind: 'backup',
    what: 'backups of a repository',
    key: group,
    title: record.label ?? name,
    place: '',
    path: `/mirror?repository=${encodeURIComponent(group)}`,
    mimeType: 'application/octet-stream',
    changedMs: Date.parse(uploadedAt),
    changedBy: undefined,
    sizeBytes: record.bytes,
    version: record.archives,
    stamp: backupStamp(record),
    facts: { archives: record.archives, bytes: record.bytes, last_commit: commit, last_backup: uploadedAt },
    text: () => undefined,
  };
}
