/** Records restore drills: who restored which archive when, and whether it was whole. */
import type { ActorRegistry } from '../actors/registry.ts';
import { invalidField } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import { groupOf, UNKNOWN_GROUP } from './declared.ts';
import type { DrillListQuery, NewDrill } from './fields.ts';
import { blobs, type DrillRecord, drills, proofs } from './records.ts';

export interface DrillsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly now: () => number;
}

export interface Drill extends DrillRecord {
  readonly id: number;
}

export class Drills {
  readonly #options: DrillsOptions;

  constructor(options: DrillsOptions) {
    this.#options = options;
  }

  /** Records a drill. Throws Refusal `invalid_fields` when the archive is not in that repository of the account. */
  async record(accountId: string, given: NewDrill): Promise<Drill> {
    const { actors, now } = this.#options;
    const { repository_id: group, commit_sha, sha256, outcome, detail } = given;
    return await actors.account(accountId).once(['drill', given], (batch): Drill => {
      const blob = batch.get(blobs, [accountId, commit_sha, sha256]);
      if (blob === undefined || groupOf(blob) !== group)
        throw invalidField('sha256', 'this repository has no archive of this commit_sha and sha256');
      const repository_id = group === UNKNOWN_GROUP ? null : group;
      const at = new Date(now()).toISOString();
      const record: DrillRecord = { repository_id, commit_sha, sha256, outcome, detail: detail ?? null, at };
      const [last] = batch.range(drills, { prefix: [accountId], reverse: true, limit: 1 });
      const id = (last?.key[1] ?? 0) + 1;
      batch.put(drills, [accountId, id], record);
      batch.remove(drills, [accountId, id - limits.drillsMax]);
      const known = batch.get(proofs, [accountId, group]);
      batch.put(proofs, [accountId, group], {
        last_drill: record,
        last_proven: outcome === 'proven' ? record : (known?.last_proven ?? null),
      });
      return { id, ...record };
    });
  }

  /** Lists drills newest first, of all repositories or of one. */
  list(accountId: string, page: DrillListQuery): { readonly drills: Drill[]; readonly nextBefore: number | undefined } {
    const found: Drill[] = [];
    const beyond = page.before === undefined ? {} : { beyond: page.before };
    const rows = this.#options.store.entries(drills, { prefix: [accountId], reverse: true, ...beyond });
    for (const { key, value } of rows) {
      if (page.repository_id !== undefined && groupOf(value) !== page.repository_id) continue;
      if (found.length === page.limit) return { drills: found, nextBefore: found.at(-1)?.id };
      found.push({ id: key[1], ...value });
    }
    return { drills: found, nextBefore: undefined };
  }
}
