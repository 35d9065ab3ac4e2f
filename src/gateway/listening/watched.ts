/** Tells which resources and prompts have changed since the last look. Read-only. */
import { createHash } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import { matchTemplate, type Variables } from '../../ids/uri.ts';
import { Changes } from '../../live/changes.ts';
import type { Store } from '../../store/store.ts';
import type { PromptKind } from '../offers/prompt.ts';
import type { ResourceKind } from '../offers/resource.ts';

/** A watched resource. */
export interface WatchedResource {
  readonly uri: string;
  readonly kind: ResourceKind;
  readonly variables: Variables;
}

/** The last seen state of a resource. */
export interface Seen {
  readonly revision: number | undefined;
  readonly day: string | undefined;
  readonly mark: string | undefined;
}

/** A watched resource, and its state when watching began. */
export interface Subscription extends WatchedResource {
  readonly since: Seen;
}

export interface WatchedOptions {
  readonly resources: readonly ResourceKind[];
  readonly prompts: readonly PromptKind[];
  readonly store: Pick<Store, 'watch' | 'revision'>;
  readonly accountOfVault: (vaultId: string) => string | undefined;
}

export class Watched {
  readonly #options: WatchedOptions;
  readonly #changes: Changes;

  constructor(options: WatchedOptions) {
    this.#options = options;
    const kinds = [...options.resources, ...options.prompts];
    const tables = kinds.flatMap(({ madeFrom, listedFrom }) => [...madeFrom, ...listedFrom]);
    this.#changes = new Changes(options.store, tables, options.accountOfVault);
  }

  /** Calls `changed` after each write that may change a resource or prompt of the account. Returns the end of it. */
  watch(accountId: string, changed: () => void): () => void {
    return this.#changes.watch(accountId, changed);
  }

  /** Number of watchers of an account. */
  watchersOf(accountId: string): number {
    return this.#changes.listenersOf(accountId);
  }

  /** The resource of a URI, even if it does not exist; undefined when no template matches. */
  find(uri: unknown): WatchedResource | undefined {
    if (typeof uri !== 'string') return undefined;
    for (const kind of this.#options.resources) {
      const variables = matchTemplate(kind.template, uri);
      if (variables !== undefined) return { uri, kind, variables };
    }
    return undefined;
  }

  /** Starts watching a resource. */
  async begin(accountId: string, resource: WatchedResource): Promise<Subscription> {
    return { ...resource, since: await this.see(accountId, resource) };
  }

  /** The current state of a resource. Reads the revision first, so that the next look detects a write in between. */
  async see(accountId: string, resource: WatchedResource): Promise<Seen> {
    return { ...this.#momentOf(accountId, resource), mark: await this.#markOf(accountId, resource) };
  }

  /** True when the day of the account has changed since a resource was seen that depends on it. */
  isOfAnotherDay(accountId: string, { kind }: WatchedResource, { day }: Seen): boolean {
    return kind.todayOf?.(accountId) !== day;
  }

  /** The state of a resource after `before`: the same object when nothing can have changed. */
  async next(accountId: string, resource: WatchedResource, before: Seen): Promise<Seen> {
    const { revision, day } = this.#momentOf(accountId, resource);
    const isSame = revision !== undefined && revision === before.revision && day === before.day;
    return isSame ? before : await this.see(accountId, resource);
  }

  #momentOf(accountId: string, { kind, variables }: WatchedResource): Omit<Seen, 'mark'> {
    const revision = this.#options.store.revision(kind.madeFrom, kind.ownerOf?.(variables) ?? accountId);
    return { revision, day: kind.todayOf?.(accountId) };
  }

  /** A text that is the same while the resource's content is the same; undefined when the resource does not exist. */
  async #markOf(accountId: string, { kind, variables }: WatchedResource): Promise<string | undefined> {
    try {
      return await kind.mark(accountId, variables);
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  /** Changes when resources of the account are created, removed or renamed. */
  resourcesOf(accountId: string): string | undefined {
    return this.#listed(accountId, this.#options.resources);
  }

  /** Changes when prompts of the account are created, removed or renamed. */
  promptsOf(accountId: string): string | undefined {
    return this.#listed(accountId, this.#options.prompts);
  }

  #listed(accountId: string, kinds: readonly Pick<ResourceKind, 'listedFrom' | 'listOwners'>[]): string | undefined {
    const parts: string[] = [];
    for (const { listedFrom, listOwners } of kinds) {
      for (const owner of [accountId, ...(listOwners?.(accountId) ?? [])]) {
        const revision = this.#options.store.revision(listedFrom, owner);
        if (revision === undefined) return undefined;
        parts.push(`${owner} ${revision}`);
      }
    }
    return parts.join('\n');
  }
}

/** A short fingerprint of a text (SHA-256). */
export function markOfText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
