/** Owns what is told of changed resources: whether something changed since it was last looked at. It reads; nothing here writes. */
import { createHash } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import type { AnyTable } from '../../store/table.ts';
import type { PromptKind } from '../offers/prompt.ts';
import { matchTemplate, type ResourceKind, type Variables } from '../offers/resource.ts';

/** The number of the rows that an owner has in some tables; undefined while a commit that writes to one is under way. */
export type Revision = (tables: readonly AnyTable[], owner?: string) => number | undefined;

/** A resource that somebody watches. */
export interface WatchedResource {
  readonly uri: string;
  readonly kind: ResourceKind;
  readonly variables: Variables;
}

/** What was last seen of a resource. */
export interface Seen {
  readonly revision: number | undefined;
  readonly mark: string | undefined;
}

/** A resource that somebody watches, and how it was when that began. */
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

  /** The resource of a URI, whether it is there or not; undefined: no template has this form. */
  find(uri: unknown): WatchedResource | undefined {
    if (typeof uri !== 'string') return undefined;
    for (const kind of this.#resources) {
      const variables = matchTemplate(kind.template, uri);
      if (variables !== undefined) return { uri, kind, variables };
    }
    return undefined;
  }

  /** Changes with every write that may change any resource or prompt of anyone; undefined: ask again. */
  get revisionOfAll(): number | undefined {
    const kinds = [...this.#resources, ...this.#prompts];
    return this.#revision(kinds.flatMap(({ madeFrom, listedFrom }) => [...madeFrom, ...listedFrom]));
  }

  /** Begins to watch a resource. */
  async begin(accountId: string, resource: WatchedResource): Promise<Subscription> {
    return { ...resource, since: await this.see(accountId, resource) };
  }

  /** What there is of a resource now. The revision is read first: a write after it makes the next look see another one. */
  async see(accountId: string, resource: WatchedResource): Promise<Seen> {
    const revision = this.revisionOf(accountId, resource);
    return { revision, mark: await this.#markOf(accountId, resource) };
  }

  /** Changes with every write that may change this resource. */
  revisionOf(accountId: string, { kind, variables }: WatchedResource): number | undefined {
    return this.#revision(kind.madeFrom, kind.ownerOf?.(variables) ?? accountId);
  }

  /** Says what a resource shows now: the same text for the same. Undefined: it is not there. */
  async #markOf(accountId: string, { kind, variables }: WatchedResource): Promise<string | undefined> {
    try {
      return await kind.mark(accountId, variables);
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  /** Changes when resources of the account come, go or are renamed. */
  resourcesOf(accountId: string): string | undefined {
    return this.#listed(accountId, this.#resources);
  }

  /** Changes when prompts of the account come, go or are renamed. */
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

/** A mark of a text. */
export function markOfText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
