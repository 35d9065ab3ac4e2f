/** Shows the recent activity of devices, agents and people on the start page, newest first. */
import type { VNode } from 'preact';
import type { DevDocRecord } from '../../documents/dev-docs/declared.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import { By, Empty, Given, Moment } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';

type Sources = Pick<Capabilities, 'tasks' | 'sync' | 'audit' | 'docs' | 'handoffs' | 'papers'>;

interface Act {
  /** ISO 8601. */
  readonly at: string;
  /** What was done, in our words. */
  readonly what: string;
  readonly name: string | null;
  readonly href: string | undefined;
  /** The device, agent or person, if known. */
  readonly by: string | null;
}

export function RecentActivity({ visit, sources }: { readonly visit: MemberVisit; readonly sources: Sources }): VNode {
  const acts = [
    ...tasksOf(sources, visit),
    ...filesOf(sources, visit),
    ...documentsOf(sources, visit),
    ...eventsOf(sources, visit),
  ]
    .sort((a, b) => b.at.localeCompare(a.at))
    .slice(0, limits.activityRows);
  return (
    <section class="panel" aria-labelledby="activity">
      <h2 id="activity">Recent activity</h2>
      {acts.length === 0 ? (
        <Empty title="Nothing has happened yet">
          <p>What you, your devices and your agents do appears here.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {acts.map((act) => (
            <Row key={`${act.at} ${act.what} ${act.name}`} act={act} visit={visit} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ act, visit }: { readonly act: Act; readonly visit: MemberVisit }): VNode {
  const { what, name, href, by, at } = act;
  return (
    <li class="row">
      <p class="row-main">
        {what} {name === null ? null : <Name name={name} href={href} />}
        <span class="meta">
          <By name={by} />
        </span>
      </p>
      <span class="meta">
        <Moment at={at} zone={visit.zone} />
      </span>
    </li>
  );
}

function Name({ name, href }: { readonly name: string; readonly href: string | undefined }): VNode {
  const shown = <Given>{name.length > 80 ? `${name.slice(0, 80)}…` : name}</Given>;
  return href === undefined ? shown : <a href={href}>{shown}</a>;
}

function tasksOf({ tasks }: Sources, { accountId }: MemberVisit): Act[] {
  const order = { sortBy: 'updated_at', descending: true } as const;
  return tasks
    .list(accountId, { filter: {}, order, offset: 0, limit: limits.activityRows })
    .tasks.map(({ id, content, created_at: createdAt, updated_at: at, completed_at: completedAt, changed_by: by }) => ({
      at,
      what: completedAt === at ? 'Task done:' : createdAt === at ? 'Task added:' : 'Task changed:',
      name: content.split('\n', 1)[0] ?? '',
      href: `/tasks/${id}`,
      by: by ?? null,
    }));
}

/** The newest changes in the most recently changed vaults. */
function filesOf({ sync }: Sources, { accountId }: MemberVisit): Act[] {
  const newest = sync.vaults
    .list(accountId)
    .sort((a, b) => b.head.stored_ms - a.head.stored_ms)
    .slice(0, limits.activityVaults);
  return newest.flatMap(({ id, head }) => {
    const seqs = Array.from({ length: Math.min(limits.activityRows, head.seq) }, (_, back) => head.seq - back);
    return seqs.flatMap((seq): Act[] => {
      const meta = sync.reader.versionMeta(id, seq);
      if (meta === undefined) return [];
      const isDeleted = meta.type === 'deleted';
      const what = isDeleted ? 'File deleted:' : meta.renamed_from === undefined ? 'File saved:' : 'File moved:';
      const href = `/vaults/${id}/file?path=${encodeURIComponent(meta.path)}`;
      return [{ at: meta.stored_at, what, name: meta.path, href: isDeleted ? undefined : href, by: meta.device_id }];
    });
  });
}

/** The dev docs that changed last, the newest handoff of each project, and the newest papers. */
function documentsOf({ docs, handoffs, papers }: Sources, { accountId }: MemberVisit): Act[] {
  const limit = limits.activityRows;
  const changed = docs.recent(accountId, limit).map(devDocAct);
  const saved = handoffs.newestOfEach(accountId, { limit }).handoffs.map((handoff) => {
    const { id, project, topic, updated_at: at, changed_by: by = null } = handoff;
    return { at, what: 'Handoff saved:', name: `${project}: ${topic}`, href: `/documents/handoffs/${id}`, by };
  });
  const written = papers.list(accountId, { include_content: false, limit }).papers.map(({ paper }) => {
    const { id, title, updated_at: at, changed_by: by = null } = paper;
    return { at, what: 'Paper saved:', name: title, href: `/documents/papers/${id}`, by };
  });
  return [...changed, ...saved, ...written];
}

function devDocAct(doc: DevDocRecord): Act {
  const { id, title: name, changed_by: by = null } = doc;
  const at = new Date(doc.changed_ms).toISOString();
  if (doc.deleted_at !== null) return { at, what: 'Dev doc deleted:', name, href: undefined, by };
  // A restored document keeps the time of its text.
  const what = doc.updated_at === at ? 'Dev doc saved:' : 'Dev doc restored:';
  return { at, what, name, href: `/documents/docs/${id}`, by };
}

function eventsOf({ audit }: Sources, { accountId }: MemberVisit): Act[] {
  return audit.list(accountId, limits.activityRows).map(({ at, what, detail, by, agent }) => ({
    at,
    what: detail === null ? what : `${what}:`,
    name: detail,
    href: '/settings#events',
    by: by === 'operator' ? 'the operator' : by === 'client' ? agent : null,
  }));
}
