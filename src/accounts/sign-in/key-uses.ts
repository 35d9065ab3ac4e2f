/** Records the last use of a key, at most once a minute. No request waits for it; a later use repeats a lost write. */
import type { ActorRegistry } from '../../actors/registry.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import { isDueAgain } from '../../time/truth.ts';
import { keys } from '../records.ts';
import { isUseWorthWriting } from '../rules.ts';

interface KeyUsesOptions {
  readonly actors: ActorRegistry;
  readonly log: Log;
  readonly now: () => number;
}

export class KeyUses {
  readonly #options: KeyUsesOptions;
  /** Time of the last recorded use by key id; a cache that saves a read of the store per request. */
  readonly #writtenMs = new Map<string, number>();

  constructor(options: KeyUsesOptions) {
    this.#options = options;
  }

  /** Records a use of a key now, if the last recorded one is old enough. */
  note(accountId: string, keyId: string): void {
    const { actors, log, now } = this.#options;
    const nowMs = now();
    const written = this.#writtenMs.get(keyId);
    if (written !== undefined && !isDueAgain(written, nowMs, limits.lastUsedMs)) return;
    this.#writtenMs.set(keyId, nowMs);
    const write = actors.account(accountId).ask((batch) => {
      const key = batch.get(keys, [accountId, keyId]);
      if (key === undefined || key.revoked_at !== null || !isUseWorthWriting(key.last_used_at, nowMs)) return;
      batch.put(keys, [accountId, keyId], { ...key, last_used_at: new Date(nowMs).toISOString() });
    });
    write.catch((error: unknown) => log.warn({ err: error }, 'the last use of a key was not written'));
  }
}
