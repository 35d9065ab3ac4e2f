/** The start page: an introduction for visitors, an overview and next steps for members. */

import type { ComponentChildren, VNode } from 'preact';
import type { SignupRule } from '../../accounts/sign-up/sign-ups.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { countWithNoun } from '../../text/count.ts';
import { readSessions } from '../activity/entries.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { Given, Moment } from '../ui.tsx';
import { conflictsPath } from '../vaults/paths.ts';
import { isMember, todayOf } from '../visit.ts';
import { RecentActivity } from './activity.tsx';
import { ConnectAgent } from './connect.tsx';
import { DueToday } from './due.tsx';

export interface HomeOptions
  extends Pick<
    Capabilities,
    'accounts' | 'signIns' | 'tasks' | 'sync' | 'blobs' | 'activity' | 'audit' | 'timeZones' | 'handoffs'
  > {
  /** When the hub was last backed up, in milliseconds; undefined: never, or unknown. */
  readonly lastBackupMs: () => number | undefined;
  readonly now: () => number;
  readonly pages: Pages;
  readonly signup: SignupRule['kind'];
  /** MCP clients can sign in through a browser. */
  readonly offersSignIn: boolean;
}

export function homeRoutes(options: HomeOptions): Route[] {
  const { pages } = options;
  return [
    pages.open('/', async (visit) =>
      pages.show(visit, isMember(visit) ? await memberView(options, visit) : strangerView(options.signup === 'closed')),
    ),
  ];
}

const PURPOSES = [
  {
    title: 'For your agents',
    text: 'One address and one key: tasks, files and notes for Claude Code, Cursor, VS Code or anything that speaks HTTP.',
  },
  {
    title: 'For your backups',
    text: 'CI jobs upload encrypted, signed tarballs, one for each commit. When you need them, you get exactly the same bytes back.',
  },
  {
    title: 'For yourself',
    text: 'A task board, your files with their history, and one list of all keys and devices, each revocable.',
  },
];

function strangerView(isClosed: boolean): View {
  return {
    title: 'Welcome',
    body: (
      <>
        <section class="hero">
          <h1>A hub of your own</h1>
          <p class="lead">
            Cairn keeps the backups, files and tasks that your tools and agents share, in one process on your own
            machine.
          </p>
          <p class="actions">
            {isClosed ? null : (
              <a class="button primary" href="/signup">
                Create an account
              </a>
            )}
            <a class={isClosed ? 'button primary' : 'button'} href="/signin">
              Sign in
            </a>
          </p>
        </section>
        <ul class="purposes">
          {PURPOSES.map(({ title, text }) => (
            <li key={title} class="panel">
              <h2>{title}</h2>
              <p>{text}</p>
            </li>
          ))}
        </ul>
      </>
    ),
  };
}

async function memberView(options: HomeOptions, visit: MemberVisit): Promise<View> {
  const { pages, accounts, signIns, tasks, timeZones, offersSignIn, now } = options;
  const { name } = accounts.describe(visit.accountId);
  const freshKey = pages.freshKey(visit);
  // The connect panel collapses after an agent has used a key or signed in by browser, unless a new key is shown.
  const isUsed =
    accounts.listKeys(visit.accountId).some(({ last_used_at: at }) => at !== null) ||
    signIns.list(visit.accountId).some(({ via_browser: viaBrowser }) => viaBrowser === true);
  const isConnected = isUsed && freshKey === undefined;
  const connect = <ConnectAgent hub={{ baseUrl: pages.hubUrl(visit), offersSignIn }} freshKey={freshKey} />;
  const anything = { beforeMs: Number.POSITIVE_INFINITY, kind: undefined, by: undefined, deletedOnly: false };
  const { sessions } = await readSessions(options, { accountId: visit.accountId, ...anything }, limits.activityRows);
  const today = todayOf(timeZones, visit, now());
  return {
    title: 'Home',
    section: 'home',
    live: ['tasks', 'vaults', 'documents', 'mirror', 'account'],
    body: (
      <>
        <h1>
          {name === null ? (
            'Welcome'
          ) : (
            <>
              Welcome, <Given>{name}</Given>
            </>
          )}
        </h1>
        {visit.isOperator ? <BackupWarning options={options} visit={visit} /> : null}
        {isConnected ? null : connect}
        <DueToday tasks={tasks} visit={visit} today={today} />
        <Overview options={options} visit={visit} />
        <RecentActivity visit={visit} sessions={sessions} />
        {isConnected ? (
          <details class="more" id="connect-again">
            <summary>Connect another agent</summary>
            {connect}
          </details>
        ) : null}
      </>
    ),
  };
}

/** A warning for the operator when the last backup is too old or missing. */
function BackupWarning({
  options,
  visit,
}: {
  readonly options: HomeOptions;
  readonly visit: MemberVisit;
}): VNode | null {
  const atMs = options.lastBackupMs();
  if (atMs !== undefined && options.now() - atMs < limits.backupAgeMs) return null;
  return (
    <section class={atMs === undefined ? 'notice warn' : 'notice bad'} aria-label="Backups">
      <p>
        {atMs === undefined ? (
          'This hub has never been backed up.'
        ) : (
          <>
            This hub was last backed up <Moment at={atMs} zone={visit.zone} />. Backups seem to have stopped.
          </>
        )}{' '}
        Run <code>cairn backup DIR</code> every day.
      </p>
    </section>
  );
}

/** The contents of the account; for empty parts, what they are for. */
function Overview({ options, visit }: { readonly options: HomeOptions; readonly visit: MemberVisit }): VNode {
  const { tasks, sync, blobs, handoffs } = options;
  const { accountId, zone } = visit;
  const open = (['backlog', 'todo', 'in_progress'] as const)
    .map((kanbanStatus) => tasks.list(accountId, { ...ANY_TASK, filter: { kanbanStatus } }).total)
    .reduce((sum, total) => sum + total, 0);
  const vaults = sync.vaults.list(accountId);
  const heads = vaults.map(({ head }) => head);
  const [first, another] = vaults.filter(({ head }) => head.pending > 0);
  const files = heads.reduce((sum, head) => sum + head.files, 0);
  const conflicts = heads.reduce((sum, head) => sum + head.pending, 0);
  const latest = blobs.latest(accountId);
  const [newest] = handoffs.newestOfEach(accountId, { limit: 1 }).handoffs;
  return (
    <ul class="purposes tiles">
      <Tile title="Tasks" href="/tasks">
        {open === 0 ? 'No open tasks. Add one; your agents see the same board.' : `${open} open`}
      </Tile>
      <Tile title="Vaults" href="/vaults">
        {files === 0
          ? 'No files yet. Synced files of your devices and agents appear here.'
          : `${countWithNoun(files, 'file')}`}
        {conflicts === 0 ? null : (
          <>
            {', '}
            <a href={first === undefined || another !== undefined ? '/vaults' : conflictsPath(first.id)}>
              <strong>{countWithNoun(conflicts, 'conflict')} to resolve</strong>
            </a>
          </>
        )}
      </Tile>
      <Tile title="Documents" href="/documents">
        {newest === undefined ? (
          'No handoffs yet. Agents save notes here for the next session.'
        ) : (
          <>
            Latest handoff: <Given>{newest.project}</Given>, <Moment at={newest.updated_at} zone={zone} />
          </>
        )}
      </Tile>
      <Tile title="Backups" href="/mirror">
        {latest === undefined ? (
          'No backup yet. Three commands make the first one.'
        ) : (
          <>
            Last backup <Moment at={latest.record.uploaded_at} zone={zone} />
          </>
        )}
      </Tile>
    </ul>
  );
}

const ANY_TASK = { order: { sortBy: 'due_date', descending: false }, offset: 0, limit: 1 } as const;

interface TileProps {
  readonly title: string;
  readonly href: string;
  readonly children: ComponentChildren;
}

function Tile({ title, href, children }: TileProps): VNode {
  return (
    <li class="panel">
      <h2>
        <a href={href}>{title}</a>
      </h2>
      <p>{children}</p>
    </li>
  );
}
