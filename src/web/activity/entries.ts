/** Reads what happened in an account from all logs as one stream, newest first. */
import type { AuditLog } from '../../audit/log.ts';
import type { Source } from '../../audit/records.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { VersionMeta, VersionStatus } from '../../sync/log/version.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { Capabilities } from '../capabilities.ts';
import { browserName } from '../visit.ts';
import type { SessionName } from './query.ts';
import { type ActivityEntry, type EntryKind, type Session, SessionGrouping, type SessionPage } from './sessions.ts';

export type ActivitySources = Pick<Capabilities, 'activity' | 'sync' | 'audit'>;

export interface EntryQuery {
  readonly accountId: string;
  /** Only entries before this time, in milliseconds. */
  readonly beforeMs: number;
  /** Undefined: all. */
  readonly kind: EntryKind | undefined;
  /** Undefined: anybody. */
  readonly by: string | null | undefined;
  readonly deletedOnly: boolean;
}

/** One page of sessions. */
export async function readSessions(
  sources: ActivitySources,
  query: EntryQuery,
  sessionsMax: number,
): Promise<SessionPage> {
  const grouping = new SessionGrouping({
    gapMs: limits.activityGapMs,
    sessionsMax,
    entriesMax: limits.activityEntriesMax,
  });
  for (const entry of entriesOf(sources, query)) {
    if (turns.isOver) await turns.next(query.accountId);
    if (!grouping.take(entry)) break;
  }
  return grouping.page();
}

/** The changes of one session, newest first, up to `activityEntriesMax`. Undefined: there are none. */
export async function entriesOfSession(
  sources: ActivitySources,
  accountId: string,
  { by, firstMs, lastMs }: SessionName,
): Promise<Session | undefined> {
  const query = { accountId, beforeMs: lastMs + 1, kind: undefined, by, deletedOnly: false };
  const entries: ActivityEntry[] = [];
  let isCut = false;
  for (const entry of entriesOf(sources, query)) {
    if (turns.isOver) await turns.next(accountId);
    if (entry.atMs < firstMs) break;
    isCut = entries.length === limits.activityEntriesMax;
    if (isCut) break;
    entries.push(entry);
  }
  const [newest, oldest] = [entries[0], entries.at(-1)];
  if (newest === undefined || oldest === undefined) return undefined;
  return { by, entries, firstMs: oldest.atMs, lastMs: newest.atMs, isCut };
}

function* entriesOf(sources: ActivitySources, query: EntryQuery): Generator<ActivityEntry> {
  const { kind, by, deletedOnly } = query;
  const streams = [
    ...(kind === undefined || kind === 'files' ? vaultStreams(sources, query) : []),
    ...(kind === 'files' || kind === 'account' ? [] : [recordsOf(sources, query)]),
    ...(kind === undefined || kind === 'account' ? [eventsOf(sources.audit, query)] : []),
  ];
  for (const entry of newestFirst(streams)) {
    if (by !== undefined && entry.by !== by) continue;
    if (kind !== undefined && entry.kind !== kind) continue;
    if (deletedOnly && entry.act !== 'deleted') continue;
    yield entry;
  }
}

/** Merges streams that are each newest first. */
function* newestFirst(streams: readonly Generator<ActivityEntry>[]): Generator<ActivityEntry> {
  const heads = streams.flatMap((stream) => {
    const { value, done } = stream.next();
    return done === true ? [] : [{ stream, entry: value as ActivityEntry }];
  });
  while (heads.length > 0) {
    const newest = heads.reduce((best, one) => (one.entry.atMs > best.entry.atMs ? one : best));
    yield newest.entry;
    const { value, done } = newest.stream.next();
    if (done === true) heads.splice(heads.indexOf(newest), 1);
    else newest.entry = value;
  }
}

function vaultStreams({ sync }: ActivitySources, { accountId, beforeMs }: EntryQuery): Generator<ActivityEntry>[] {
  return sync.vaults.list(accountId).map(({ id, record }) => filesOf(sync, { id, name: record.name }, beforeMs));
}

/** The changes of a vault before a time. A rename is one entry, without the tombstone that it leaves. */
function* filesOf(
  { reader, reading }: Capabilities['sync'],
  vault: { readonly id: string; readonly name: string },
  beforeMs: number,
): Generator<ActivityEntry> {
  let seq = reading.views.seqAt(vault.id, beforeMs - 1);
  while (seq > 0) {
    const meta = reader.versionMeta(vault.id, seq);
    if (meta === undefined) {
      seq = reading.views.keptUpTo(vault.id, seq - 1);
      continue;
    }
    yield fileEntry(vault, meta);
    const left = meta.renamed_from === undefined ? undefined : reader.versionMeta(vault.id, seq - 1);
    const isLeft = left?.type === 'deleted' && foldCase(left.path) === foldCase(meta.renamed_from ?? '');
    seq -= isLeft ? 2 : 1;
  }
}

const ACTS: Readonly<Record<VersionStatus, ActivityEntry['act']>> = {
  created: 'created',
  updated: 'changed',
  renamed: 'moved',
  restored: 'restored',
  deleted: 'deleted',
};

function fileEntry(vault: { readonly id: string; readonly name: string }, meta: VersionMeta): ActivityEntry {
  const { path, seq, renamed_from: from } = meta;
  return {
    atMs: Date.parse(meta.stored_at),
    kind: 'files',
    act: from === undefined ? ACTS[meta.status] : 'moved',
    by: meta.device_id,
    name: path,
    item: `${vault.id} ${foldCase(path)}`,
    ref: { of: 'file', vaultId: vault.id, vault: vault.name, seq, path, from },
  };
}

function* recordsOf({ activity }: ActivitySources, { accountId, beforeMs }: EntryQuery): Generator<ActivityEntry> {
  for (const { number, at_ms: atMs, kind, item, act, name, by } of activity.before(accountId, beforeMs)) {
    yield {
      atMs,
      kind: kind === 'tasks' ? 'tasks' : 'documents',
      act,
      by,
      name,
      item: `${kind} ${item}`,
      ref: { of: 'record', number, kind, item },
    };
  }
}

function* eventsOf(audit: AuditLog, { accountId, beforeMs }: EntryQuery): Generator<ActivityEntry> {
  for (const { at, what, detail, by, agent, count } of audit.list(accountId, limits.auditActsMax)) {
    const atMs = Date.parse(at);
    if (atMs >= beforeMs) continue;
    yield {
      atMs,
      kind: 'account',
      act: 'event',
      by: actorOf(by, agent),
      name: [what, ...(detail === null ? [] : [detail])].join(': ') + (count > 1 ? ` (${count} times)` : ''),
      item: `event ${at} ${what} ${detail}`,
      ref: { of: 'event' },
    };
  }
}

function actorOf(by: Source['by'], agent: string | null): string | null {
  switch (by) {
    case 'operator':
      return 'the operator';
    case 'stranger':
      return 'a visitor';
    case 'user':
      return browserName(agent);
    case 'client':
      return agent;
  }
}
