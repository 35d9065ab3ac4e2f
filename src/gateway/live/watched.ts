/** Detects whether resources and prompts have changed since the last look. Read-only. */
import { createHash } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import type { AnyTable } from '../../store/table.ts';
import type { PromptKind } from '../offers/prompt.ts';
import { matchTemplate, type ResourceKind, type Variables } from '../offers/resource.ts';

/** The revision of an owner's rows in some tables; undefined while a commit to one of them is in progress. */
export type Revision = (tables: readonly AnyTable[], owner?: string) => number | undefined;

/** A watched resource. */
export interface WatchedResource {
  readonly uri: string;
  readonly kind: ResourceKind;
  readonly variables: Variables;
}

/** The last seen state of a resource. */
export interface Seen {
  readonly revision: number | undefined;
  readonly mark: string | undefined;
}

/** A watched resource, and its state when watching began. */
export interface Subscription extends WatchedResource {
  readonly since: Seen;
}

export class Watched {
  readonly #resources: readonly ResourceKind[];
  readonly #prompts: readonly PromptKind[];
  readonly #revision: Revision;

  constructor(resources: readonly ResourceKind[], prompts: readonly PromptKind[], revision: Revision) {
    this.#resources = resources;
    this.#prompts = prompts;
    this.#revision = revision;
  }

  /** The resource of a URI, even if it does not exist; undefined when no template matches. */
  find(uri: unknown): WatchedResource | undefined {
    if (typeof uri !== 'string') return undefined;
    for (const kind of this.#resources) {
      const variables = matchTemplate(kind.template, uri);
      if (variables !== undefined) return { uri, kind, variables };
    }
    return undefined;
  }

  /** Changes with every write that may change any resource or prompt of any account; undefined: try again later. */
  get revisionOfAll(): number | undefined {
    const kinds = [...this.#resources, ...this.#prompts];
    return this.#revision(kinds.flatMap(({ madeFrom, listedFrom }) => [...madeFrom, ...listedFrom]));
  }

  /** Starts watching a resource. */
  async begin(accountId: string, resource: WatchedResource): Promise<Subscription> {
    return { ...resource, since: await this.see(accountId, resource) };
  }

  /** The current state of a resource. Reads the revision first, so that the next look detects a write in between. */
  async see(accountId: string, resource: WatchedResource): Promise<Seen> {
    const revision = this.revisionOf(accountId, resource);
    return { revision, mark: await this.#markOf(accountId, resource) };
  }

  /** Changes with every write that may change this resource. */
  revisionOf(accountId: string, { kind, variables }: WatchedResource): number | undefined {
    return this.#revision(kind.madeFrom, kind.ownerOf?.(variables) ?? accountId);
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
    return this.#listed(accountId, this.#resources);
  }

  /** Changes when prompts of the account are created, removed or renamed. */
  promptsOf(accountId: string): string | undefined {
    return this.#listed(accountId, this.#prompts);
  }

  #listed(accountId: string, kinds: readonly Pick<ResourceKind, 'listedFrom' | 'listOwners'>[]): string | undefined {
    const parts: string[] = [];
    for (const { listedFrom, listOwners } of kinds) {
      for (const owner of [accountId, ...(listOwners?.(accountId) ?? [])]) {
        const revision = this.#revision(listedFrom, owner);
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
