/** Reads and writes the addresses of activity: the filter of the list, and what names one session. Pure. */
import { ENTRY_KINDS, type EntryKind, type Session } from './sessions.ts';

export interface ActivityQuery {
  /** Undefined: all kinds. */
  readonly kind: EntryKind | undefined;
  /** Undefined: anybody. */
  readonly by: string | null | undefined;
  readonly deletedOnly: boolean;
  /** In milliseconds since 1970. */
  readonly beforeMs: number;
}

export const ACTIVITY_PATH = '/activity';

export function readActivityQuery(query: URLSearchParams): ActivityQuery {
  const kind = ENTRY_KINDS.find((one) => one === query.get('kind'));
  const by = query.get('by');
  return {
    kind,
    by: by === null || by === '' ? undefined : by,
    deletedOnly: query.get('deleted') === 'true',
    beforeMs: readMs(query.get('before')) ?? Number.POSITIVE_INFINITY,
  };
}

export function activityPath({ kind, by, deletedOnly, beforeMs }: Partial<ActivityQuery>): string {
  const query = new URLSearchParams({
    ...(kind === undefined ? {} : { kind }),
    ...(by == null ? {} : { by }),
    ...(deletedOnly === true ? { deleted: 'true' } : {}),
    ...(beforeMs === undefined || !Number.isFinite(beforeMs) ? {} : { before: String(beforeMs) }),
  });
  return query.size === 0 ? ACTIVITY_PATH : `${ACTIVITY_PATH}?${query}`;
}

export interface SessionName {
  readonly by: string | null;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The fields that name a session, in an address or a form. */
export function sessionFields({
  by,
  firstMs,
  lastMs,
}: Pick<Session, 'by' | 'firstMs' | 'lastMs'>): Record<string, string> {
  return { ...(by === null ? {} : { by }), first: String(firstMs), last: String(lastMs) };
}

export function sessionPath(session: Pick<Session, 'by' | 'firstMs' | 'lastMs'>): string {
  return `${ACTIVITY_PATH}/session?${new URLSearchParams(sessionFields(session))}`;
}

/** Undefined: the fields name no session. */
export function readSessionRef(fields: URLSearchParams): SessionName | undefined {
  const [firstMs, lastMs] = [readMs(fields.get('first')), readMs(fields.get('last'))];
  return firstMs === undefined || lastMs === undefined ? undefined : { by: fields.get('by'), firstMs, lastMs };
}

function readMs(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
