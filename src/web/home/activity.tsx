/** Shows the recent activity of devices, agents and people on the start page, one line for each time at work. */
import type { VNode } from 'preact';
import type { Session } from '../activity/sessions.ts';
import { SessionLines } from '../activity/view.tsx';
import { Empty } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';

export function RecentActivity({
  visit,
  sessions,
}: {
  readonly visit: MemberVisit;
  readonly sessions: readonly Session[];
}): VNode {
  return (
    <section class="panel" aria-labelledby="activity">
      <h2 id="activity">Recent activity</h2>
      {sessions.length === 0 ? (
        <Empty title="Nothing has happened yet">
          <p>What you, your devices and your agents do appears here.</p>
        </Empty>
      ) : (
        <>
          <SessionLines sessions={sessions} visit={visit} />
          <p>
            <a href="/activity">All activity</a>
          </p>
        </>
      )}
    </section>
  );
}
