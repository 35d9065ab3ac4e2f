/**
 * Runs many pushes in one call (SYN-23): contents are prepared together, then each push is decided separately, in
 * order, like a single push. Decisions go to the store in portions: many share a commit, and other work runs between.
 */
import { type Attempt, attempt } from '../../common/attempt.ts';
import { limits } from '../../limits/service.ts';
import type { CheckedContent } from '../contents/incoming.ts';
import type { ManyContents, Prepared } from '../contents/many.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { type PushArguments, readContent, readPush, type UnfilledPush } from './input.ts';
import type { Push } from './push.ts';
import { type PushResult, resultOf } from './step.ts';

export interface PushManyOptions {
  readonly vaults: Vaults;
  readonly push: Push;
  readonly contents: ManyContents;
}

export type PushOutcome = Attempt<PushResult>;

interface ReadPush {
  readonly push: UnfilledPush;
  readonly sent: CheckedContent | undefined;
}

interface Decided {
  readonly outcome: PushOutcome;
  readonly adopted: boolean;
}

export class PushMany {
  readonly #options: PushManyOptions;

  constructor(options: PushManyOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the outcome of each push, in order, once all is on disk. A push with refused arguments keeps that
   * outcome. Throws Refusal `invalid_fields` for an unknown vault.
   */
  async push(
    accountId: string,
    given: { readonly vaultId: string | undefined; readonly files: readonly Attempt<PushArguments>[] },
  ): Promise<{ readonly vaultId: string; readonly outcomes: readonly PushOutcome[] }> {
    const { vaults, contents } = this.#options;
    const vaultId = await vaults.idOf(accountId, given.vaultId);
    const files = await Promise.all(
      given.files.map((file) => (file.ok ? attempt(() => readFile(file.value)) : Promise.resolve(file))),
    );
    const sent = files.map((file) => (file.ok ? file.value.sent : undefined));
    const decided = await contents.use(accountId, sent, (prepared) =>
      inPortions(files, (file, index) => this.#decide(accountId, vaultId, file, prepared[index] as Prepared)),
    );
    return { vaultId, outcomes: decided.map(({ outcome }) => outcome) };
  }

  /** Sends the decision to the vault's actor in the turn of the call, so that pushes keep their order. */
  async #decide(accountId: string, vaultId: string, file: Attempt<ReadPush>, prepared: Prepared): Promise<Decided> {
    if (!file.ok) return { outcome: file, adopted: false };
    if (!prepared.ok) return { outcome: prepared, adopted: false };
    const { push } = file.value;
    const content = prepared.value;
    push.content = content;
    const decided = await attempt(() => this.#options.push.decide(accountId, vaultId, push, content));
    if (!decided.ok) return { outcome: decided, adopted: false };
    return { outcome: await attempt(() => resultOf(decided.value)), adopted: decided.value.adopted };
  }
}

function readFile(args: PushArguments): ReadPush {
  return { push: readPush(args), sent: readContent(args) };
}

async function inPortions<T, R>(items: readonly T[], run: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (let from = 0; from < items.length; from += limits.pushManyDecisionsMax) {
    const portion = items.slice(from, from + limits.pushManyDecisionsMax);
    made.push(...(await Promise.all(portion.map((item, index) => run(item, from + index)))));
  }
  return made;
}
