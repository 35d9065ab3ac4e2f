/**
 * Changes a vault: runs one decision of its actor at a time, with its clock. The caller makes the decision.
 */
import type { DecisionName } from '../../actors/once/once.ts';
import type { ActorRegistry } from '../../actors/registry.ts';
import type { Batch } from '../../store/group-commit.ts';
import { LogChange } from './change.ts';
import type { SyncReader } from './reader.ts';

export interface VaultLogOptions {
  readonly actors: ActorRegistry;
  /** 16 hex characters: the hub's node in the clocks that it generates. */
  readonly nodeId: string;
  readonly now: () => number;
  /** Throws Refusal `invalid_fields` when a vault was deleted since it was looked up. */
  readonly checkKept: (vaultId: string) => void;
}

/** Everything that a decision on a vault works with. */
export interface Turn {
  readonly batch: Batch;
  readonly reader: SyncReader;
  readonly change: LogChange;
  readonly accountId: string;
  readonly vaultId: string;
  readonly nowMs: number;
}

export class VaultLog {
  readonly #options: VaultLogOptions;

  constructor(options: VaultLogOptions) {
    this.#options = options;
  }

  /**
   * Runs a decision, which must call `change.finish` after changing anything. Resolves once the change is durable.
   * `name`: as of `Actor.once`. In a repeat of a request with an idempotency key, `decide` does not run.
   */
  write<T>(
    accountId: string,
    vaultId: string,
    name: DecisionName,
    decide: (turn: Turn) => T extends PromiseLike<unknown> ? never : T,
  ): Promise<T> {
    const { actors, nodeId, now, checkKept } = this.#options;
    return actors.vault(vaultId).once<T>(
      name,
      (batch) => {
        checkKept(vaultId);
        const nowMs = now();
        const change = new LogChange(batch, { accountId, vaultId, nodeId }, nowMs);
        return decide({ batch, reader: change.reader, change, accountId, vaultId, nowMs });
      },
      { accountId },
    );
  }
}
