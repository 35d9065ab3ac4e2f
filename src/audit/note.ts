/** Records a security event in the decision that causes it, in the same commit, up to a maximum number of events. */
import { limits } from '../limits/service.ts';
import { type Batch, DecisionMemo } from '../store/group-commit.ts';
import { intact } from '../store/intact.ts';
import {
  type AuditedAct,
  type AuditRecord,
  type AuditRing,
  auditEvents,
  hubEvents,
  type RemoteSource,
  type Source,
} from './records.ts';

export const OPERATOR: Source = { by: 'operator', address: null, agent: null };

export interface AuditEvent {
  readonly atMs: number;
  readonly act: AuditedAct;
  readonly source: Source;
  readonly detail?: string | null | undefined;
}

/** The operator at the command line, or on the page of accounts. */
export function operatorSource(who: string | undefined): Source {
  return { ...OPERATOR, who: plain(who) ?? undefined };
}

/** Returns the source of a request. The name of the program is truncated and its control characters are removed. */
export function auditSourceOf(by: Source['by'], address: string, agent: string | undefined): RemoteSource {
  return { by, address, agent: plain(agent) };
}

/** Number of acts recorded so far in a running decision, by account: a decision does not read its own writes. */
const notedIn = new DecisionMemo<number>();

/** Acts of the hub's log, whoever did them. Everything that an operator did is there too. */
const ACTS_OF_HUB: ReadonlySet<AuditedAct> = new Set(['account_created', 'account_imported', 'account_deleted']);

/**
 * Records an act. Removes the oldest one when the account has more than `auditActsMax`. Acts of an operator, and the
 * beginning and the end of an account, are also recorded in the hub's log.
 */
export function noteAct(batch: Batch, accountId: string, event: AuditEvent): void {
  if (event.source.by === 'operator' || ACTS_OF_HUB.has(event.act)) noteHub(batch, accountId, event);
  const noted = notedIn.of(batch);
  const before = noted.get(accountId) ?? 0;
  noted.set(accountId, before + 1);
  const number = newest(batch, accountId, 'act').number + 1 + before;
  batch.put(auditEvents, [accountId, 'act', number], recordOf(event));
  drop(batch, [accountId, 'act', number - limits.auditActsMax]);
}

/** Number of events of the hub recorded so far in a running decision. */
const notedOfHub = new WeakMap<object, number>();

/**
 * Records an event of the hub. It keeps who, what, when and which account; the address and the program only of an
 * operator. Removes the oldest one above `hubEventsMax`.
 */
export function noteHub(batch: Batch, accountId: string | null, event: AuditEvent): void {
  const before = notedOfHub.get(batch) ?? 0;
  notedOfHub.set(batch, before + 1);
  const [last] = batch.keysIn(hubEvents, { prefix: [], reverse: true, limit: 1 });
  const number = (last?.[0] ?? 0) + 1 + before;
  const { by, address, agent, who } = event.source;
  const source: Source = by === 'operator' ? { by, address, agent, who } : { by, address: null, agent: null };
  const { at_ms, act, detail } = recordOf({ ...event, source });
  batch.put(hubEvents, [number], { at_ms, act, ...source, detail, account_id: accountId });
  if (number > limits.hubEventsMax) batch.remove(hubEvents, [number - limits.hubEventsMax]);
}

/** Records a failure, one per decision. Equal consecutive failures from one address are one event with a count. */
export function noteFailure(batch: Batch, accountId: string, event: AuditEvent): void {
  const { number, record: last } = newest(batch, accountId, 'failure');
  const record = recordOf(event);
  const isSame =
    last !== undefined &&
    last.by === record.by &&
    last.address === record.address &&
    last.detail === record.detail &&
    event.atMs - last.at_ms < limits.auditSameFailureMs;
  if (isSame) {
    batch.put(auditEvents, [accountId, 'failure', number], { ...record, count: (last.count ?? 1) + 1 });
    return;
  }
  batch.put(auditEvents, [accountId, 'failure', number + 1], record);
  drop(batch, [accountId, 'failure', number + 1 - limits.auditFailuresMax]);
}

function newest(
  batch: Batch,
  accountId: string,
  ring: AuditRing,
): { readonly number: number; readonly record?: AuditRecord | undefined } {
  const [last] = batch.keysIn(auditEvents, { prefix: [accountId, ring], reverse: true, limit: 1 });
  return last === undefined ? { number: 0 } : { number: last[2], record: intact(batch, auditEvents, last) };
}

function drop(batch: Batch, key: [accountId: string, ring: AuditRing, number: number]): void {
  if (key[2] > 0) batch.remove(auditEvents, key);
}

function recordOf({ atMs, act, source, detail }: AuditEvent): AuditRecord {
  // An account's own list says that it was an operator, not which.
  const { by, address, agent } = source.by === 'operator' ? OPERATOR : source;
  return { at_ms: atMs, act, by, address, agent, detail: plain(detail) };
}

function plain(text: string | null | undefined): string | null {
  const kept = (text ?? '').replace(/\p{C}/gu, '').slice(0, limits.agentCharsMax).trim();
  return kept === '' ? null : kept;
}
