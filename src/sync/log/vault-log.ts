/**
 * Owns how a vault is changed: one decision of its actor at a time, and who waits for changes is told once they are on
 * disk. What is decided is the caller's.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import type { Batch } from '../../store/group-commit.ts';
import { LogChange } from './change.ts';
import type { Changes } from './changes.ts';
import type { SyncReader } from './reader.ts';

export interface VaultLogOptions {
  readonly actors: ActorRegistry;
  readonly changes: Changes;
  /** 16 hex characters: the hub's node in clocks that it makes. */
  readonly nodeId: string;
  readonly now: () => number;
  /** Throws Refusal `invalid_fields` when a vault was deleted since it was looked up. */
  readonly checkKept: (vaultId: string) => void;
}

/** What a decision about a vault works with. */
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

  /** Runs a decision. It must call `change.finish` when it has changed anything. Resolves once that is durable. */
  async write<T>(
    accountId: string,
    vaultId: string,
    decide: (turn: Turn) => T extends PromiseLike<unknown> ? never : T,
  ): Promise<T> {
    const { actors, changes, nodeId, now, checkKept } = this.#options;
    let newest = 0;
    const made = await actors.vault(vaultId).ask<T>(
      (batch) => {
        checkKept(vaultId);
        const nowMs = now();
        const change = new LogChange(batch, { accountId, vaultId, nodeId }, nowMs);
        const before = change.head.seq;
        const decided = decide({ batch, reader: change.reader, change, accountId, vaultId, nowMs });
        if (change.head.seq > before) newest = change.head.seq;
        return decided;
      },
      { accountId },
    );
    if (newest > 0) changes.tell(vaultId, newest);
    return made;
  }
}
