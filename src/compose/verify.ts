/** Runs the checks of every capability over one snapshot of the data file. Read-only. */

import { accountImports, accounts as accountTable } from '../accounts/records.ts';
import { removals } from '../accounts/standing/records.ts';
import { verifyAccounts } from '../accounts/verify.ts';
import { verifyActivity } from '../activity/verify.ts';
import { verifyAudit } from '../audit/verify.ts';
import { devDocKind } from '../documents/dev-docs/kind.ts';
import { handoffKind } from '../documents/handoffs/kind.ts';
import { paperKind } from '../documents/papers/kind.ts';
import { versionRows } from '../documents/records.ts';
import { verifyDocuments } from '../documents/verify.ts';
import { blobs } from '../mirror/records.ts';
import type { BlobKey } from '../mirror/set-aside.ts';
import { verifyMirror } from '../mirror/verify.ts';
import { signIns } from '../oauth/records.ts';
import { verifyOAuth } from '../oauth/verify.ts';
import { recordBytes, textBytes } from '../quotas/usage.ts';
import { UsageTally } from '../quotas/verify.ts';
import { CheckedReader } from '../store/checked-reader.ts';
import { oldMetaRows } from '../store/meta/meta.ts';
import { damagedSchemaRows } from '../store/meta/schema.ts';
import { isMasterKey, WRONG_KEY } from '../store/sealing/key-check.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { packBytes } from '../sync/log/pack-records.ts';
import type { VaultVersionKey } from '../sync/log/set-aside.ts';
import { deletedRows } from '../sync/verify/deleted.ts';
import { verifyPacks } from '../sync/verify/packs.ts';
import { verifySync } from '../sync/verify/vaults.ts';
import { tasks } from '../tasks/records.ts';
import { verifyTasks } from '../tasks/verify.ts';
import { importedIds } from '../transfer/leftovers.ts';
import { allTables } from './tables.ts';

/** Contents with a wrong hash that are not set aside. */
interface DamagedRows {
  readonly blobs: readonly BlobKey[];
  readonly versions: readonly VaultVersionKey[];
}

/** Counts by name, and one sentence for each problem. */
export interface IntegrityReport {
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** Damaged contents that are set aside, one sentence each. They are not problems, but not intact either. */
  readonly set_aside: readonly string[];
  /** Damaged contents that can be set aside. */
  readonly damaged: DamagedRows;
  readonly [count: string]: number | boolean | readonly string[] | DamagedRows;
}

/** `damagedPages`: those of the data file, when the caller has looked for them already. */
export function checkIntegrity(
  store: Store,
  sealer: Sealer,
  damagedPages: readonly string[] = store.damagedPages(),
): IntegrityReport {
  // Reading rows in damaged pages may crash the process.
  if (damagedPages.length > 0) {
    const nothing = { set_aside: [], damaged: { blobs: [], versions: [] } };
    return { ok: false, damaged_pages: damagedPages.length, ...nothing, problems: damagedPages };
  }
  const metaProblems = checkMeta(store, sealer);
  const ofDeleted = new CheckedReader(store);
  const deleted = deletedRows(ofDeleted);
  const reader = new CheckedReader(store, new Set([...importedIds(store), ...removedIds(store), ...deleted.vaultIds]));
  // Packs are compared with the versions that they copy, line by line.
  for (const table of allTables) if (table !== packBytes) reader.checkSums(table);
  const accounts = verifyAccounts(reader, { isSignIn: (id) => reader.get(signIns, [id]) !== undefined });
  const isAccount = (id: string) => reader.get(accountTable, [id]) !== undefined;
  const oauth = verifyOAuth(reader, { isAccount });
  const audit = verifyAudit(reader, { isAccount });
  const activity = verifyActivity(reader, { isAccount });
  const mirror = verifyMirror(reader, sealer);
  const tasks = verifyTasks(reader);
  const docs = verifyDocuments(reader, devDocKind);
  const handoffs = verifyDocuments(reader, handoffKind);
  const papers = verifyDocuments(reader, paperKind);
  const usage = tallyOf(reader).compare(reader);
  const sync = verifySync(reader, deleted);
  const packs = verifyPacks(reader, deleted);
  const aside = [...mirror.aside, ...sync.aside];
  const parts = [accounts, oauth, audit, activity, mirror, tasks, docs, handoffs, papers, sync, packs];
  const told = [...metaProblems, ...ofDeleted.problems, ...reader.problems, ...usage];
  // Several checks read the same row.
  const problems = [...new Set([...told, ...parts.flatMap((part) => part.problems)])];
  return {
    ok: problems.length === 0,
    accounts: accounts.accounts,
    removals: removedIds(store).length,
    imports: [...store.keys(accountImports)].length,
    keys: accounts.keys,
    sign_ins: oauth.signIns,
    device_grants: oauth.deviceGrants,
    identities: oauth.identities,
    security_events: audit.events,
    changes: activity.changes,
    mirror_credentials: mirror.credentials,
    blobs: mirror.blobs,
    blob_bytes: mirror.bytes,
    staged_uploads: mirror.staged,
    tasks: tasks.tasks,
    categories: tasks.categories,
    dev_docs: docs.found,
    handoffs: handoffs.found,
    papers: papers.found,
    vaults: sync.vaults,
    files: sync.files,
    versions: sync.versions,
    pending_conflicts: sync.pendingConflicts,
    staged_contents: sync.stagedContents,
    packs: packs.packs,
    loose_packs: packs.loose,
    set_aside: aside,
    damaged: { blobs: mirror.damaged, versions: sync.damaged },
    problems,
  };
}

function checkMeta(store: Store, sealer: Sealer): string[] {
  const problems = damagedSchemaRows(store).map((name) => `meta ${name}: the checksum of the row does not match`);
  for (const name of oldMetaRows(store)) problems.push(`meta ${name}: an older version of cairn wrote it`);
  try {
    if (!isMasterKey(store, sealer)) problems.push(WRONG_KEY);
  } catch {
    problems.push('meta key_check: the record cannot be read');
  }
  return problems;
}

function removedIds(store: Store): string[] {
  return [...store.keys(removals)].map(([accountId]) => accountId);
}

/** Sums the expected usage of each account. */
function tallyOf(reader: CheckedReader): UsageTally {
  const tally = new UsageTally();
  reader.each(blobs, ({ key, value }) => tally.add(key[0], 'blobs', value.byte_size));
  reader.each(versionRows, ({ key, value }) => tally.add(key[0], 'documents', textBytes(value.size_bytes)));
  reader.each(tasks, ({ key, value }) => tally.add(key[0], 'documents', recordBytes(value.content)));
  return tally;
}
