/**
 * Runs a push: hashes and stages its content, then one decision of the vault's actor accepts it, keeps it as a
 * conflict, or refuses it. Responds only once the outcome is on disk.
 */
import { setImmediate } from 'node:timers/promises';
import { type Fault, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Damage } from '../../store/data-file/damage.ts';
import type { Store } from '../../store/store.ts';
import type { Contents, IncomingContent } from '../contents/incoming.ts';
import type { FileRoom } from '../log/file-room.ts';
import { formatHlc } from '../log/hlc.ts';
import { files } from '../log/records.ts';
import type { Turn, VaultLog } from '../log/vault-log.ts';
import type { PushVisits } from '../vaults/push-visits.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { decidePush } from './decision.ts';
import { healVersion } from './heal.ts';
import { type PushArguments, readChunks, readContent, readPush, type UnfilledPush } from './input.ts';
import { keepRefused } from './keep-refused.ts';
import { conflictFault } from './refusals.ts';
import { applyRename } from './rename.ts';
import { gatherState } from './state.ts';
import { type Decided, doneWith, type PushResult, type PushStep, resultOf, settlePending } from './step.ts';
import type { AcceptOutcome, PushRequest, PushState } from './types.ts';

export interface PushOptions {
  readonly store: Store;
  readonly vaults: Vaults;
  readonly log: VaultLog;
  readonly contents: Contents;
  readonly visits: PushVisits;
  readonly damage: Damage;
  readonly room: FileRoom;
}

export class Push {
  readonly #options: PushOptions;

  constructor(options: PushOptions) {
    this.#options = options;
  }

  /**
   * Runs a push. Throws Refusal `invalid_fields`, `quota_exceeded`, `storage_reserved` or `path_not_found`, or
   * `sync_conflict` once the refused bytes are on disk. `from`: a change made on a page does not come from a device.
   */
  async push(accountId: string, args: PushArguments, from: 'device' | 'page' = 'device'): Promise<PushResult> {
    const { vaults, contents } = this.#options;
    const push = readPush(args);
    const decide = async (content: IncomingContent | undefined) => {
      const vaultId = await vaults.idOf(accountId, args.vault_id);
      push.content = content;
      return await this.decide(accountId, vaultId, push, content, from);
    };
    const chunks = readChunks(args);
    if (chunks !== undefined) {
      const vaultId = await vaults.idOf(accountId, args.vault_id);
      return resultOf(await contents.useChunks({ accountId, vaultId }, chunks, decide));
    }
    const content = readContent(args);
    const decided = content === undefined ? await decide(undefined) : await contents.use(accountId, content, decide);
    return resultOf(decided);
  }

  /** Decides a push with prepared content. Resolves once it is on disk. Throws as `push`, but returns conflicts. */
  async decide(
    accountId: string,
    vaultId: string,
    push: UnfilledPush,
    content: IncomingContent | undefined,
    from: 'device' | 'page' = 'device',
  ): Promise<Decided> {
    const { log, store, visits } = this.#options;
    let isDecided = false;
    const ask = (unfilled: UnfilledPush): Promise<Decided> => {
      const name = ['pushed', push.folded, push.from?.folded, content?.sha256, unfilled.baseIsForeign] as const;
      return log.write(accountId, vaultId, name, (turn): Decided => {
        isDecided = true;
        const made = this.#apply({ turn, push: withClock(unfilled, turn), content });
        const { deviceId } = push;
        const visit = { vaultId, deviceId, nowMs: turn.nowMs, pushedSeq: turn.change.head.seq };
        if (from === 'device') visits.note(turn.batch, visit);
        return made;
      });
    };
    let decided = await ask(push);
    if (decided.kind === 'unknown_base') {
      isDecided = false;
      const baseIsForeign = await isOfOtherFile(store, vaultId, push.folded, decided.sha);
      decided = await ask({ ...push, baseIsForeign });
    }
    return isDecided ? decided : { ...decided, adopted: false };
  }

  #apply(step: PushStep): Decided {
    if (step.push.from !== undefined) return applyRename(this.#options, step, step.push.from);
    const { push, turn } = step;
    const state = gatherState(this.#options, turn, push);
    const outcome = decidePush(push, state);
    switch (outcome.kind) {
      case 'refuse':
        noteOver(this.#options.room, outcome.fault);
        throw new Refusal(outcome.fault);
      case 'unknown_base':
        return { ...outcome, adopted: false };
      case 'conflict':
        if (push.isRetried === true) throw new Refusal(conflictFault(push, state, outcome.reason, undefined));
        if (step.content !== undefined) this.#options.room.checkReserve(step.turn.accountId);
        return keepRefused(this.#options, step, state, outcome);
      case 'unchanged': {
        const { file } = state;
        if (file === undefined) throw new Error('an unchanged push without a file');
        const adopted = healVersion(this.#options, step, file.seq);
        if (settlePending(step, state, file.seq) > 0) turn.change.finish();
        return doneWith(turn, { status: 'unchanged', record: file, previousHlc: file.hlc, warnings: [] }, adopted);
      }
      case 'accept':
        return this.#accept(step, state, outcome);
    }
  }

  #accept(step: PushStep, state: PushState, outcome: AcceptOutcome): Decided {
    const { push, content, turn } = step;
    if (content !== undefined) this.#options.room.checkReserve(turn.accountId);
    turn.change.setClock(outcome.clock);
    const record = turn.change.append({
      path: push,
      before: state.file,
      status: outcome.status,
      content,
      hlc: outcome.hubMade ? null : push.hlcText,
      deviceId: push.deviceId,
      mtime: push.mtime,
      executable: push.executable ?? state.file?.executable ?? false,
    });
    settlePending(step, state, record.seq);
    this.#options.contents.adopt(turn.batch, content);
    turn.change.finish();
    const { status, warnings } = outcome;
    return doneWith(turn, { status, record, previousHlc: state.file?.hlc ?? null, warnings }, true);
  }
}

/** Sets the clock of a push without one to the hub's, which is above every clock stored in the vault. */
function withClock(push: UnfilledPush, { change, nowMs }: Turn): PushRequest {
  if (hasClock(push)) return push;
  const hlc = change.clockOf(nowMs);
  return { ...push, hlc, hlcText: formatHlc(hlc) };
}

function hasClock(push: UnfilledPush): push is PushRequest {
  return push.hlc !== undefined;
}

function noteOver(room: FileRoom, fault: Fault): void {
  if (fault.kind === 'quota_exceeded' && (fault.of === 'files' || fault.of === 'history')) room.noteRefused(fault.of);
}

/**
 * True when another current file has this hash, which only a mix-up explains. Walks a bounded number of files in short
 * turns, outside a decision.
 */
async function isOfOtherFile(store: Store, vaultId: string, folded: string, sha: string): Promise<boolean> {
  let beyond: string | undefined;
  for (let looked = 0; looked < limits.foreignBaseFilesMax; looked += limits.foreignBaseTurnFiles) {
    const from = beyond === undefined ? {} : { beyond };
    const rows = store.range(files, { prefix: [vaultId], limit: limits.foreignBaseTurnFiles, ...from });
    for (const { key, value } of rows) {
      if (key[1] !== folded && !value.deleted && (value.sha256 === sha || value.git_sha === sha)) return true;
    }
    beyond = rows.at(-1)?.key[1];
    if (rows.length < limits.foreignBaseTurnFiles) return false;
    await setImmediate();
  }
  return false;
}
