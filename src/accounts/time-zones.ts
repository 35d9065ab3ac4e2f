/** Stores the time zone of an account: the meaning of "today" in calls that name no zone. */
import type { ActorRegistry } from '../actors/registry.ts';
import { Refusal } from '../common/fault.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { openZone, type Zone } from '../time/zone.ts';
import { accounts } from './records.ts';

export interface TimeZonesOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  /** IANA name of the zone for accounts without one. */
  readonly byDefault: string;
}

export class TimeZones {
  readonly #options: TimeZonesOptions;

  /** The tables read by `of`. */
  readonly tables: readonly AnyTable[] = [accounts];

  constructor(options: TimeZonesOptions) {
    this.#options = options;
  }

  /** Returns the zone of an account, or the hub's default. */
  of(accountId: string): Zone {
    return openZone(this.chosen(accountId) ?? this.#options.byDefault);
  }

  /** Returns the zone set by the account; null: none, so the hub's default applies. */
  chosen(accountId: string): string | null {
    return this.#options.store.get(accounts, [accountId])?.time_zone ?? null;
  }

  /** Sets the zone of an account; null: the hub's default. `name` must pass `isTimeZone`. */
  async set(accountId: string, name: string | null): Promise<Zone> {
    const { actors, byDefault } = this.#options;
    await actors.account(accountId).once(['time zone', name], (batch): void => {
      const account = batch.get(accounts, [accountId]);
      if (account === undefined) throw new Refusal({ kind: 'not_found', what: 'account not found' });
      if ((account.time_zone ?? null) !== name) batch.put(accounts, [accountId], { ...account, time_zone: name });
    });
    return openZone(name ?? byDefault);
  }
}
