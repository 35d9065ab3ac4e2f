/** Owns what a prompt is (MCP): a text that a person picks by its name, as a command of the agent. */

import type { AnyTable } from '../../store/table.ts';

interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

export interface PromptItem {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

/** Prompts of one capability. */
export interface PromptKind {
  /** The tables whose rows say which prompts there are, and what they say. */
  readonly madeFrom: readonly AnyTable[];
  readonly listedFrom: readonly AnyTable[];
  /** All of the account; a capability bounds how many there are. */
  list(accountId: string): readonly PromptItem[] | Promise<readonly PromptItem[]>;
  /** What the person says by picking it. Refuses what is not there. */
  text(accountId: string, name: string, args: Readonly<Record<string, string>>): string | Promise<string>;
  /** Values of an argument that begin with `value`. */
  complete?(
    accountId: string,
    argument: string,
    value: string,
    others: Readonly<Record<string, string>>,
  ): readonly string[];
}
