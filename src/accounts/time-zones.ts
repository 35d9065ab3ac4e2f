/** Stores the time zone of an account: the meaning of "today" in calls that name no zone. */
import type { ActorRegistry } from '../actors/registry.ts';
import { Remembered } from '../cache/lru.ts';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
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
  /** Names set by accounts, while their rows are unchanged. */
  readonly #chosen = new Remembered<string | null>(limits.zonesRememberedMax);

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
    const { store } = this.#options;
    const revision = store.revision(this.tables, accountId);
    const known = revision === undefined ? undefined : this.#chosen.get(accountId, revision);
    if (known !== undefined) return known;
    const name = store.get(accounts, [accountId])?.time_zone ?? null;
    if (revision !== undefined) this.#chosen.set(accountId, revision, name, 1);
    return name;
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
