/** Checks the groups of archives both ways: their order, their hashes, their totals, and the bases of increments. */
import type { CheckedReader } from '../../store/checked-reader.ts';
import { keyText } from '../../store/row-sums.ts';
import { groupOf } from '../declared.ts';
import { blobs, repositories, repositoryArchives, repositoryOrder } from '../records.ts';

export function verifyGroups(reader: CheckedReader): string[] {
  const problems: string[] = [];
  const archives = new Set<string>();
  reader.eachKey(repositoryArchives, ([accountId, repositoryId, sha256, commitSha]) => {
    archives.add(`${accountId} ${repositoryId} ${sha256}`);
    if (reader.get(blobs, [accountId, commitSha, sha256])?.repository_id !== repositoryId)
      problems.push(`archive ${accountId} ${repositoryId} ${sha256}: belongs to no blob of that repository`);
  });
  const totals = new Map<string, { archives: number; bytes: number }>();
  reader.each(blobs, ({ key: [accountId, commitSha, sha256], value }) => {
    const name = `blob ${accountId} ${commitSha} ${sha256}`;
    const group = groupOf(value);
    const placed = reader.get(repositoryOrder, [accountId, group, value.sequence]);
    if (placed?.sha256 !== sha256 || placed.commit_sha !== commitSha)
      problems.push(`${name}: missing from the order of its repository at ${value.sequence}`);
    const total = totals.get(`${accountId} ${group}`) ?? { archives: 0, bytes: 0 };
    totals.set(`${accountId} ${group}`, {
      archives: total.archives + 1,
      bytes: total.bytes + value.byte_size,
    });
    const { repository_id: repositoryId, base_sha256: base } = value;
    if (repositoryId === null) return;
    if (reader.get(repositoryArchives, [accountId, repositoryId, sha256, commitSha]) === undefined)
      problems.push(`${name}: missing from the archives of its repository`);
    if (base !== null && !archives.has(`${accountId} ${repositoryId} ${base}`))
      problems.push(`${name}: its base ${base} does not exist`);
  });
  reader.each(repositoryOrder, ({ key: [accountId, group, sequence], value }) => {
    const blob = reader.get(blobs, [accountId, value.commit_sha, value.sha256]);
    if (blob === undefined || blob.sequence !== sequence || groupOf(blob) !== group)
      problems.push(`order ${accountId} ${group} ${sequence}: refers to ${value.sha256}, which does not exist in it`);
  });
  reader.each(repositories, ({ key, value }) => {
    const counted = totals.get(keyText(key));
    if (counted?.archives !== value.archives || counted.bytes !== value.bytes)
      problems.push(`repository ${keyText(key)}: its totals differ from its archives`);
    totals.delete(keyText(key));
  });
  for (const name of totals.keys()) problems.push(`repository ${name}: has no totals`);
  return problems;
}
