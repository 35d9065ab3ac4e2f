/** What the hub and the thread of the index tell each other. */
import type { ThingKindName } from '../ids/thing.ts';
import type { Having, HavingQuery } from './containing.ts';
import type { Needs } from './scores.ts';
import type { Snippet } from './snippets.ts';

export interface SearchQuery {
  readonly accountId: string;
  readonly query: string;
  readonly kinds: readonly ThingKindName[] | undefined;
  /** Only things of this group. */
  readonly group?: string;
  /** `some`: a question in a sentence, whose common words do not count. By default every word is needed. */
  readonly needs?: Needs;
  /** The kept ranking that a cursor continues, by the changes of its index; 0: of the index as it is. */
  readonly ranking: number;
  readonly offset: number;
  readonly limit: number;
}

/** Asks which things of a kind whose keys are numbers may contain a text, word for word. */
export interface ContainingQuery extends Omit<HavingQuery, 'needles'> {
  readonly accountId: string;
  readonly text: string;
}

/** Undefined: any may, because the text has no words, or is searched while the account is being indexed. */
export type MayContain = Having | undefined;

/** A written thing: its account, kind and key; without a key any of the kind may be gone. */
export type WrittenThing = readonly [accountId: string, kind: ThingKindName, key: string | undefined];

export type ToIndex =
  | { readonly type: 'written'; readonly things: readonly WrittenThing[] }
  | { readonly type: 'forget'; readonly accountId: string }
  | { readonly type: 'search'; readonly id: number; readonly query: SearchQuery }
  | { readonly type: 'containing'; readonly id: number; readonly query: ContainingQuery };

export interface FoundThing {
  /** As in `Thing`. */
  readonly key: string;
  readonly id: string;
  readonly kind: ThingKindName;
  readonly title: string;
  readonly place: string;
  readonly path: string;
  readonly changedMs: number;
  readonly lines: readonly Snippet[];
}

export interface FoundThings {
  readonly results: readonly FoundThing[];
  readonly total: number;
  /** Matches of each kind. */
  readonly counts: Readonly<Partial<Record<ThingKindName, number>>>;
  /** Wanted words and phrases that nothing has. */
  readonly missing: readonly string[];
  /** Words and phrases of the query that no result has, because of a hyphen before them. */
  readonly without: readonly string[];
  /** False: what is searched is still being indexed, or has more text than one search reads for a phrase. */
  readonly complete: boolean;
  /** Where the next page begins; undefined: this one is the last. */
  readonly cursor: string | undefined;
}

export interface FromIndex {
  readonly id: number;
  /** What was asked for; undefined: it failed. */
  readonly answer: { readonly value: unknown } | undefined;
  /** Why nothing was found out: for the log. */
  readonly error?: unknown;
}
