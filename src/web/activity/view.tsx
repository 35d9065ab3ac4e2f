/** The list of sessions, and the page of one session. */

import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { MemberVisit } from '../pages.ts';
import { Confirm, Empty, Form, Given, Moment, SubmitButton, Who } from '../ui.tsx';
import { isYou } from '../visit.ts';
import { type EntryDetails, EntryRow, verbAndName } from './entry-row.tsx';
import { ACTIVITY_PATH, type ActivityQuery, activityPath, sessionFields, sessionPath } from './query.ts';
import {
  type ActivityEntry,
  countsOf,
  countsText,
  type EntryKind,
  type Session,
  type SessionPage,
} from './sessions.ts';

export interface ActivityPageProps {
  readonly visit: MemberVisit;
  readonly page: SessionPage;
  readonly query: ActivityQuery;
  readonly details: EntryDetails;
}

export function ActivityPage({ visit, page, query, details }: ActivityPageProps): VNode {
  const isFirst = query.beforeMs === Number.POSITIVE_INFINITY;
  return (
    <>
      <div class="title-row">
        <h1>Activity</h1>
      </div>
      <p class="lead">What you, your devices and your agents did, one entry per session. Every change can be undone.</p>
      <Filters query={query} />
      {page.sessions.length === 0 ? (
        <section class="panel">
          <Empty title={isFirst ? 'Nothing here yet' : 'Nothing earlier'}>
            <p>
              {query.kind === undefined && query.by === undefined && !query.deletedOnly ? (
                'Changes of files, tasks and documents appear here.'
              ) : (
                <a href={ACTIVITY_PATH}>Show everything</a>
              )}
            </p>
          </Empty>
        </section>
      ) : (
        <SessionList sessions={page.sessions} visit={visit} details={details} query={query} />
      )}
      <nav class="actions" aria-label="Pages of activity">
        {isFirst ? null : <a href={activityPath({ ...query, beforeMs: Number.POSITIVE_INFINITY })}>Newest</a>}
        {page.nextMs === undefined ? null : <a href={activityPath({ ...query, beforeMs: page.nextMs })}>Earlier</a>}
      </nav>
    </>
  );
}

const KIND_NAMES: readonly (readonly [kind: EntryKind | undefined, name: string])[] = [
  [undefined, 'Everything'],
  ['files', 'Files'],
  ['tasks', 'Tasks'],
  ['documents', 'Documents'],
  ['account', 'Account'],
];

function Filters({ query }: { readonly query: ActivityQuery }): VNode {
  const { kind, by, deletedOnly } = query;
  const rest = { by, beforeMs: Number.POSITIVE_INFINITY };
  return (
    <nav class="chips" aria-label="Show">
      {KIND_NAMES.map(([one, name]) => (
        <a
          key={name}
          href={activityPath({ ...rest, kind: one })}
          aria-current={one === kind && !deletedOnly ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
      <a href={activityPath({ ...rest, deletedOnly: true })} aria-current={deletedOnly ? 'page' : undefined}>
        Deleted
      </a>
      {by == null ? null : (
        <a class="is-set" href={activityPath({ kind, deletedOnly, beforeMs: Number.POSITIVE_INFINITY })}>
          Only <Given>{by}</Given> <span aria-hidden="true">×</span>
          <span class="sr-only">, show everybody</span>
        </a>
      )}
    </nav>
  );
}

interface SessionListProps {
  readonly sessions: readonly Session[];
  readonly visit: MemberVisit;
  readonly details: EntryDetails;
  readonly query: ActivityQuery;
}

function SessionList({ sessions, visit, details, query }: SessionListProps): VNode {
  const days = new Map<string, Session[]>();
  for (const session of sessions) {
    const day = visit.zone.dayName(session.lastMs);
    days.set(day, [...(days.get(day) ?? []), session]);
  }
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section key={day} class="day" aria-label={day}>
          <h2>{day}</h2>
          {ofDay.map((session) => (
            <SessionPanel
              key={`${session.by} ${session.lastMs}`}
              session={session}
              visit={visit}
              details={details}
              back={activityPath(query)}
            />
          ))}
        </section>
      ))}
    </>
  );
}

interface SessionProps {
  readonly session: Session;
  readonly visit: MemberVisit;
  readonly details: EntryDetails;
}

function SessionPanel({ session, visit, details, back }: SessionProps & { readonly back: string }): VNode {
  const shown = session.entries.slice(0, limits.activityFirstEntries);
  const rows = (
    <ul class="rows">
      {shown.map((entry, at) => (
        <EntryRow key={at} entry={entry} session={session} visit={visit} details={details} back={back} />
      ))}
    </ul>
  );
  const isSingle = session.entries.length === 1;
  return (
    <article class="panel session" aria-label={`${whoText(session, visit)}, ${timesText(session, visit)}`}>
      <SessionHead session={session} visit={visit} back={back} />
      {isSingle ? (
        rows
      ) : (
        <details class="more" id={`session-${session.lastMs}-${session.entries.length}`}>
          <summary>{session.entries.length} changes</summary>
          {rows}
          {session.entries.length > shown.length ? (
            <p>
              <a href={sessionPath(session)}>All {session.entries.length} changes</a>
            </p>
          ) : null}
        </details>
      )}
    </article>
  );
}

function SessionHead({ session, visit, back }: Omit<SessionProps, 'details'> & { readonly back: string }): VNode {
  const counts = countsOf(session.entries);
  return (
    <header class="session-head">
      <p class="session-who">
        <a href={activityPath({ by: session.by })}>
          <Who name={session.by ?? 'Unknown'} visit={visit} isFirst />
        </a>
        <a class="meta" href={sessionPath(session)}>
          <time datetime={new Date(session.lastMs).toISOString()}>{timesText(session, visit)}</time>
        </a>
      </p>
      <p class="session-counts">
        {countsText({ ...counts, deleted: 0 })}
        {counts.deleted === 0 ? null : (
          <>
            {counts.files + counts.tasks + counts.documents + counts.account === 0 ? '' : ', '}
            <strong class="deleted">{counts.deleted} deleted</strong>
          </>
        )}
        {session.isCut ? ' (and more before)' : ''}
      </p>
      {session.entries.some(canUndo) && session.entries.length > 1 ? (
        <UndoSession session={session} visit={visit} back={back} />
      ) : null}
    </header>
  );
}

function UndoSession({ session, visit, back }: Omit<SessionProps, 'details'> & { readonly back: string }): VNode {
  const counts = countsOf(session.entries.filter(canUndo));
  return (
    <Confirm label="Undo all…" of={`of ${whoText(session, visit)}, ${timesText(session, visit)}`} danger={false}>
      <p>
        {countsText(counts)}: all of it becomes what it was before. What somebody has changed since is merged or left
        alone, and this can be undone.
      </p>
      <Form csrf={visit.csrf} action={`${ACTIVITY_PATH}/undo`}>
        {Object.entries({ ...sessionFields(session), back }).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <SubmitButton look="primary">Undo this session</SubmitButton>
      </Form>
    </Confirm>
  );
}

const canUndo = ({ ref }: ActivityEntry): boolean => ref.of !== 'event';

/** `14:02–14:09`; with both days when it passed midnight. */
function timesText({ firstMs, lastMs }: Session, { zone }: MemberVisit): string {
  const [first, last] = [zone.clock(firstMs), zone.clock(lastMs)];
  if (zone.day(firstMs) !== zone.day(lastMs)) return `${zone.moment(new Date(firstMs).toISOString())} – ${last}`;
  return first === last ? last : `${first}–${last}`;
}

/** All changes of one session, a page at a time. `from`: number of changes before it. */
export function SessionPageView({ session, visit, details, from }: SessionProps & { readonly from: number }): VNode {
  const max = limits.activitySessionEntries;
  const shown = session.entries.slice(from, from + max);
  const pagePath = (entry: number) => `${sessionPath(session)}&entry=${entry}`;
  return (
    <>
      <div class="intro">
        <nav aria-label="Path" class="crumbs">
          <a href={ACTIVITY_PATH}>Activity</a>
        </nav>
        <h1>
          <Who name={session.by ?? 'Unknown'} visit={visit} isFirst />
        </h1>
        <p class="lead">{visit.zone.dayName(session.lastMs)}</p>
      </div>
      <article class="panel session" aria-label="Changes">
        <SessionHead session={session} visit={visit} back={sessionPath(session)} />
        <ul class="rows">
          {shown.map((entry, at) => (
            <EntryRow
              key={at}
              entry={entry}
              session={session}
              visit={visit}
              details={details}
              back={sessionPath(session)}
            />
          ))}
        </ul>
        <nav class="actions" aria-label="Pages of changes">
          {from > 0 ? <a href={pagePath(Math.max(0, from - max))}>Newer changes</a> : null}
          {from + max < session.entries.length ? <a href={pagePath(from + max)}>Earlier changes</a> : null}
        </nav>
      </article>
    </>
  );
}

/** For the start page: one line for each session. */
export function SessionLines({
  sessions,
  visit,
}: {
  readonly sessions: readonly Session[];
  readonly visit: MemberVisit;
}): VNode {
  return (
    <ul class="rows">
      {sessions.map((session) => (
        <li key={`${session.by} ${session.lastMs}`} class="row entry">
          <p class="row-main">
            <a href={sessionPath(session)}>
              <Who name={session.by ?? 'Unknown'} visit={visit} isFirst />
            </a>{' '}
            <span class="meta">{sessionText(session)}</span>
          </p>
          <span class="meta">
            <Moment at={session.lastMs} zone={visit.zone} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const NAMED_MAX = 3;
const NAME_CHARS = 80;

function shortened(name: string): string {
  const chars = Array.from(name);
  return chars.length > NAME_CHARS ? `${chars.slice(0, NAME_CHARS).join('')}…` : name;
}

/** `3 tasks: Water the plants, Buy soil, Post the letter`; of one thing, what was done to it. */
function sessionText({ entries }: Session): string {
  const items = [...new Map(entries.map((entry) => [entry.item, entry])).values()];
  const newest = items
    .map(({ item }) => entries.find((entry) => entry.item === item))
    .filter((entry) => entry !== undefined);
  const [only] = newest;
  if (newest.length === 1 && only !== undefined) return shortened(verbAndName(only));
  const names = newest.slice(0, NAMED_MAX).map(({ name }) => shortened(name));
  return `${countsText(countsOf(entries))}: ${names.join(', ')}${newest.length > NAMED_MAX ? ', …' : ''}`;
}

/** The name of who did it, in a label. */
export function whoText({ by }: Pick<Session, 'by'>, visit: MemberVisit): string {
  if (by === null) return 'somebody unknown';
  return isYou(visit, by) ? 'you' : by;
}
