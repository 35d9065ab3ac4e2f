/** The time zone of an account: in which zone "today" is meant where a call names none. */
import type { ActorRegistry } from '../actors/registry.ts';
import { Refusal } from '../common/fault.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { openZone, type Zone } from '../time/zone.ts';
import { accounts } from './records.ts';

export interface TimeZonesOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  /** IANA name of the zone of accounts that have set none. */
  readonly byDefault: string;
}

export class TimeZones {
  readonly #options: TimeZonesOptions;

  /** The tables that the answer of `of` is made from. */
  readonly tables: readonly AnyTable[] = [accounts];

  constructor(options: TimeZonesOptions) {
    this.#options = options;
  }

  /** The zone of an account, or the default of the hub. */
  of(accountId: string): Zone {
    return openZone(this.chosen(accountId) ?? this.#options.byDefault);
  }

  /** What the account has set; null: nothing, so the default of the hub holds. */
  chosen(accountId: string): string | null {
    return this.#options.store.get(accounts, [accountId])?.time_zone ?? null;
  }

  /** Sets the zone of an account; null: the default of the hub. `name` is one that `isTimeZone` accepts. */
  async set(accountId: string, name: string | null): Promise<Zone> {
    const { actors, byDefault } = this.#options;
    await actors.account(accountId).ask((batch) => {
      const account = batch.get(accounts, [accountId]);
      if (account === undefined) throw new Refusal({ kind: 'not_found', what: 'account not found' });
      if ((account.time_zone ?? null) !== name) batch.put(accounts, [accountId], { ...account, time_zone: name });
    });
    return openZone(name ?? byDefault);
  }
}
