/** Records a security event in the decision that causes it, in the same commit, up to a maximum number of events. */
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import {
  type AuditedAct,
  type AuditRecord,
  type AuditRing,
  auditEvents,
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

/** Returns the source of a request. The name of the program is truncated and its control characters are removed. */
export function auditSourceOf(by: Source['by'], address: string, agent: string | undefined): RemoteSource {
  return { by, address, agent: plain(agent) };
}

/** Number of acts recorded so far in a running decision, by account: a decision does not read its own writes. */
const notedIn = new WeakMap<object, Map<string, number>>();

/** Records an act. Removes the oldest one when the account has more than `auditActsMax`. */
export function noteAct(batch: Batch, accountId: string, event: AuditEvent): void {
  const noted = notedIn.get(batch) ?? new Map<string, number>();
  notedIn.set(batch, noted);
  const before = noted.get(accountId) ?? 0;
  noted.set(accountId, before + 1);
  const number = newest(batch, accountId, 'act').number + 1 + before;
  batch.put(auditEvents, [accountId, 'act', number], recordOf(event));
  dropBefore(batch, [accountId, 'act', number - limits.auditActsMax]);
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
  dropBefore(batch, [accountId, 'failure', number + 1 - limits.auditFailuresMax]);
}

function newest(
  batch: Batch,
  accountId: string,
  ring: AuditRing,
): { readonly number: number; readonly record?: AuditRecord } {
  const [last] = batch.range(auditEvents, { prefix: [accountId, ring], reverse: true, limit: 1 });
  return last === undefined ? { number: 0 } : { number: last.key[2], record: last.value };
}

function dropBefore(batch: Batch, key: [accountId: string, ring: AuditRing, number: number]): void {
  if (batch.get(auditEvents, key) !== undefined) batch.remove(auditEvents, key);
}

function recordOf({ atMs, act, source, detail }: AuditEvent): AuditRecord {
  return { at_ms: atMs, act, ...source, detail: plain(detail) };
}

function plain(text: string | null | undefined): string | null {
  const kept = (text ?? '').replace(/\p{C}/gu, '').slice(0, limits.agentCharsMax).trim();
  return kept === '' ? null : kept;
}
