/** Runs the search in a separate thread, and tells it of each written thing once its commit is over. */
import { Worker } from 'node:worker_threads';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import { turns } from '../../common/turns.ts';
import type { Config } from '../../config.ts';
import type { ThingKind } from '../../ids/thing.ts';
import type {
  ContainingQuery,
  FoundThings,
  FromIndex,
  MayContain,
  SearchQuery,
  ToIndex,
  WrittenThing,
} from '../../search/messages.ts';
import type { Store } from '../../store/store.ts';
import type { SearchThreadData } from './search-thread.ts';

interface SearchOptions {
  readonly config: Pick<Config, 'dataFolder' | 'mapBytes'>;
  readonly store: Store;
  readonly log: Log;
  readonly kinds: readonly ThingKind[];
  readonly accountOfVault: (vaultId: string) => string | undefined;
}

export class SearchThread {
  readonly #options: SearchOptions;
  readonly #waiting = new Map<number, (answer: FromIndex['answer']) => void>();
  #written: WrittenThing[] = [];
  #worker: Worker | undefined;
  #asked = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    const { store, kinds, accountOfVault } = options;
    for (const { kind, writtenBy, heldBy } of kinds) {
      if (heldBy !== undefined)
        store.watch(heldBy, (rows) => () => {
          for (const [accountId] of rows) this.#note([String(accountId), kind, undefined]);
        });
      for (const { table, keyOf } of writtenBy) {
        store.watch(table, (rows) => () => {
          let last: string | undefined;
          let accountId: string | undefined;
          for (const row of rows) {
            const owner = String(row[0]);
            // The rows of a commit are mostly of one vault, whose account is a row to read.
            if (owner !== last) accountId = table.owners.vault === 0 ? accountOfVault(owner) : owner;
            last = owner;
            const key = keyOf(row);
            if (accountId !== undefined && key !== undefined) this.#note([accountId, kind, key]);
          }
        });
      }
    }
  }

  /** Finds what has every word. The caller's answered writes are in it. Throws Refusal `overloaded`. */
  async search(query: SearchQuery): Promise<FoundThings> {
    return (await this.#ask(query.accountId, (id) => ({ type: 'search', id, query }))) as FoundThings;
  }

  /** Finds what may contain a text; what it leaves out does not. As `search`. */
  async containing(query: ContainingQuery): Promise<MayContain> {
    return (await this.#ask(query.accountId, (id) => ({ type: 'containing', id, query }))) as MayContain;
  }

  /** Drops the index of an account that is gone. */
  forget(accountId: string): void {
    if (this.#worker !== undefined) this.#send({ type: 'forget', accountId });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage('close');
    await ended;
  }

  /** The thread answers many searches at once: each caller goes on in its turn. */
  async #ask(accountId: string, messageOf: (id: number) => ToIndex): Promise<unknown> {
    this.#tell();
    this.#asked += 1;
    const id = this.#asked;
    const answered = new Promise<FromIndex['answer']>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send(messageOf(id));
    });
    const answer = await turns.resumed(accountId, answered);
    if (answer !== undefined) return answer.value;
    throw new Refusal({ kind: 'overloaded', what: 'the search is starting again', retryAfterSeconds: 1 });
  }

  #note(thing: WrittenThing): void {
    if (this.#written.length === 0) setImmediate(() => this.#tell());
    this.#written.push(thing);
  }

  #tell(): void {
    const things = this.#written;
    if (things.length === 0) return;
    this.#written = [];
    // Without a thread nothing is indexed yet: the first search reads everything.
    if (this.#worker !== undefined) this.#send({ type: 'written', things });
  }

  #send(message: ToIndex): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  #start(): Worker {
    const { dataFolder, mapBytes } = this.#options.config;
    const workerData: SearchThreadData = { dataFolder, mapBytes };
    const worker = new Worker(new URL('./search-thread.js', import.meta.url), { workerData, name: 'search' });
    worker.unref();
    const { log } = this.#options;
    worker.on('message', ({ id, answer, error }: FromIndex) => {
      if (answer === undefined) log.error({ err: error }, 'a search failed');
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
    worker.on('error', (error) =>
      log.error({ err: error }, 'the thread of the search ended; the next search starts it'),
    );
    worker.on('exit', () => {
      this.#worker = undefined;
      for (const answer of this.#waiting.values()) answer(undefined);
      this.#waiting.clear();
    });
    return worker;
  }
}
