/** The part of the settings page that shows recent security events. */

import type { VNode } from 'preact';
import type { AuditLog, SecurityEvent } from '../../audit/log.ts';
import { limits } from '../../limits/service.ts';
import type { MemberVisit } from '../pages.ts';
import { Given, Moment } from '../ui.tsx';
import { browserName } from '../visit.ts';
import type { ZoneFormat } from '../zone-format.ts';

const SHOWN_AT_FIRST = 10;

export interface EventsProps {
  readonly visit: MemberVisit;
  readonly audit: AuditLog;
}

export function SecurityEvents({ visit, audit }: EventsProps): VNode {
  const events = audit.list(visit.accountId, limits.auditShownMax);
  const earlier = events.slice(SHOWN_AT_FIRST);
  return (
    <section class="panel" aria-labelledby="events">
      <h2 id="events">Recent security events</h2>
      <p class="lead">
        Sign-ins, failed attempts and changes to passwords, keys and devices, from the last {limits.auditDays} days. If
        you don’t recognize one, change your password and revoke what you don’t know.
      </p>
      <EventList events={events.slice(0, SHOWN_AT_FIRST)} zone={visit.zone} />
      {earlier.length === 0 ? null : (
        <details class="more">
          <summary>Earlier events ({earlier.length})</summary>
          <EventList events={earlier} zone={visit.zone} />
        </details>
      )}
    </section>
  );
}

function EventList({ events, zone }: { readonly events: readonly SecurityEvent[]; readonly zone: ZoneFormat }): VNode {
  return (
    <ul class="rows">
      {events.map((event, index) => (
        <li key={index} class="row">
          <div class="row-main">
            <strong>{event.what}</strong>
            {event.detail === null ? null : (
              <>
                {' '}
                <Given>{event.detail}</Given>
              </>
            )}
            <p class="meta">
              {event.count > 1 ? `${event.count} times, last ` : ''}
              <Moment at={event.at} zone={zone} />
              {event.by === 'operator' ? ' · by the operator of this hub' : ''}
              {event.address === null ? null : (
                <>
                  {' '}
                  · from <Given>{event.address}</Given>
                </>
              )}
              {event.agent === null ? null : (
                <>
                  {' '}
                  · <Given>{event.by === 'client' ? event.agent : browserName(event.agent)}</Given>
                </>
              )}
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}
