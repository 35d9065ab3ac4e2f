/** Defines prompts (MCP): texts a person picks by name, as commands of the agent. */

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
  /** `madeFrom`: tables with the texts of the prompts. `listedFrom`: tables with the list of prompts. */
  readonly madeFrom: readonly AnyTable[];
  readonly listedFrom: readonly AnyTable[];
  /** All prompts of the account; the capability limits their number. */
  list(accountId: string): readonly PromptItem[] | Promise<readonly PromptItem[]>;
  /** The text of a prompt, sent as the user's message. Throws a Refusal when it does not exist. */
  text(accountId: string, name: string, args: Readonly<Record<string, string>>): string | Promise<string>;
  /** Values of an argument that begin with `value`. */
  complete?(
    accountId: string,
    argument: string,
    value: string,
    others: Readonly<Record<string, string>>,
  ): readonly string[];
}
