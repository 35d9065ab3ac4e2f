/** What users repair on the hub itself: a conflict settled, an old version brought back. Answers are the model's. */
import assert from 'node:assert/strict';
import { type RpcReply, structuredOf } from '../../support/gateway.ts';
import { type Conflict, fold, nfc, QUOTA_BYTES, type Version } from './hub-model.ts';
import { versionsOf } from './reads.ts';
import type { Stage } from './stage.ts';

/** The device of changes that no device sent. */
const HUB = 'hub';

interface Repaired {
  readonly status: string;
}

/** Settles one of all conflicts, a settled one again too. With a base it says what it has seen as current. */
export async function resolveConflict(stage: Stage, which: number, keep: Keep, isGuarded: boolean): Promise<void> {
  const { model } = stage;
  const all = [...model.conflicts.values()];
  const conflict = all[which % Math.max(all.length, 1)];
  if (conflict === undefined) return;
  const live = model.live(conflict.path);
  const base = isGuarded ? { base_sha: live?.sha ?? '' } : {};
  const expected = expectResolution(stage, conflict, keep);
  const reply = await stage.call('sync_resolve_conflict', { conflict_id: conflict.id, keep, ...base });
  const told = `keep ${keep} of ${JSON.stringify(conflict)} was answered ${JSON.stringify(reply.error ?? reply.result)}`;
  assert.equal(nameOf(reply), expected, told);
  if (conflict.status !== 'pending' || reply.error !== undefined) return;
  conflict.status = keep === 'theirs' ? 'dismissed' : 'resolved';
  if (keep === 'theirs') return;
  for (const other of model.pendingOf(conflict.path)) {
    if (conflict.sha !== null && other.sha === conflict.sha) other.status = 'resolved';
  }
  if ((live?.sha ?? null) === conflict.sha) return;
  const content = conflict.sha === null ? undefined : stage.contentOf(conflict.sha);
  await storeByHub(stage, live?.path ?? conflict.path, content);
}

type Keep = 'theirs' | 'yours';

function expectResolution({ model }: Stage, conflict: Conflict, keep: Keep): string {
  const { status, sha, bytes, path } = conflict;
  if (status !== 'pending') {
    const isRepeated = status === (keep === 'theirs' ? 'dismissed' : 'resolved');
    return isRepeated ? status : 'invalid conflict_id';
  }
  if (keep === 'theirs') return 'dismissed';
  const live = model.live(path);
  if ((live?.sha ?? null) === sha) return 'resolved';
  if (sha !== null && live === undefined && model.clashes(path)) return 'invalid path';
  const same = model.pendingOf(path).filter((one) => one === conflict || (sha !== null && one.sha === sha));
  const freed = same.reduce((total, one) => total + one.bytes, 0);
  const grown = bytes - (live?.bytes ?? 0);
  return grown > 0 && model.usage() - freed + grown > QUOTA_BYTES ? 'quota' : 'resolved';
}

/** Brings one of the versions of a path back. */
export async function restoreVersion(stage: Stage, path: string, which: number): Promise<void> {
  const { model } = stage;
  const versions = model.lineageOf(path);
  const version = versions[which % Math.max(versions.length, 1)];
  const live = model.live(path);
  const expected = expectRestore(stage, path, version);
  const reply = await stage.call('sync_restore', { path, seq: version?.seq ?? 1 });
  const told = `restore of ${path} #${version?.seq} was answered ${JSON.stringify(reply.error ?? reply.result)}`;
  assert.equal(nameOf(reply), expected, told);
  if (version === undefined || expected !== 'restored') return;
  const spelled = fold(version.path) === fold(path) ? version.path : nfc(path);
  await storeByHub(stage, live?.path ?? spelled, stage.contentOf(version.sha));
}

function expectRestore({ model }: Stage, path: string, version: Version | undefined): string {
  if (version === undefined) return 'not_found';
  if (version.deleted) return 'invalid seq';
  const live = model.live(path);
  if (live?.sha === version.sha) return 'unchanged';
  if (live === undefined && model.clashes(path)) return 'invalid path';
  const grown = version.bytes - (live?.bytes ?? 0);
  return grown > 0 && model.usage() + grown > QUOTA_BYTES ? 'quota' : 'restored';
}

/** Adds the version that the hub made; its clock and time are what the history says, and must rise. */
async function storeByHub(stage: Stage, path: string, content: string | undefined): Promise<void> {
  const { model } = stage;
  const [made] = await versionsOf(stage, path, 1);
  assert.ok(made !== undefined);
  assert.equal(made.seq, model.seq + 1);
  assert.ok(made.stored_at > model.storedAt, 'stored_at must rise');
  assert.ok(model.isRisen(made.hlc), "a clock of the hub's must rise");
  const { seq, hlc, stored_at: storedAt } = made;
  model.store({ seq, path, hlc, storedAt, device: HUB, deleted: content === undefined }, content);
}

function nameOf(reply: RpcReply): string {
  const { error } = reply;
  if (error === undefined) return structuredOf<Repaired>(reply).status;
  if (error.code === -32004) return 'quota';
  return error.code === -32005 ? 'not_found' : `invalid ${String(error.data?.['field'])}`;
}
