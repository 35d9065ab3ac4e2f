/**
 * Decides and applies a rename: a push with the old path. The old path gets a tombstone and the new one the content, in
 * one decision; a new spelling of the same folded path is one version. Without content the bytes are kept.
 */
import { Refusal } from '../../common/fault.ts';
import type { Contents } from '../contents/incoming.ts';
import { shareContent } from '../contents/piece-shares.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { sendTick } from '../log/hlc.ts';
import type { VaultPath } from '../log/paths.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import type { Turn } from '../log/vault-log.ts';
import { adoptClock, matches, overQuota, settledBy } from './decision.ts';
import { keepRefused } from './keep-refused.ts';
import { conflictFault, needsBase, refuse, refuseClash, refuseResolves, refuseSpelling } from './refusals.ts';
import { gatherState, type StateSources } from './state.ts';
import { type Decided, doneWith, type PushStep, settlePending } from './step.ts';
import type { AdoptedClock, ConflictOutcome, PushDecision, PushRequest, PushState } from './types.ts';

type RenameOutcome =
  | (AdoptedClock & { readonly kind: 'rename'; readonly left: FileRecord })
  /** A conflict on the old path or on the new one. */
  | (ConflictOutcome & { readonly at: PushState })
  | { readonly kind: 'unchanged'; readonly file: FileRecord }
  | Extract<PushDecision, { kind: 'refuse' }>;

interface RenameSources extends StateSources {
  readonly contents: Contents;
}

/** Decides a rename. Pure. `source` is the state of the old path; the same as `target` for a new spelling. */
function decideRename(push: PushRequest, source: PushState, target: PushState): RenameOutcome {
  const { resolves } = push;
  if (resolves !== undefined && ![source, target].some((state) => state.hasConflict(resolves))) return refuseResolves();
  const left = live(source);
  const there = live(target);
  const isRespelling = source.folded === target.folded;
  // A name in another spelling is the work of another rename: the client would believe in a name that the hub does not have.
  const isDone = there?.path === push.path && (isRespelling || left === undefined);
  if (isDone && isWanted(push, there)) return { kind: 'unchanged', file: there };
  if (left === undefined) {
    const deletedAt = source.file === undefined ? null : new Date(source.file.stored_ms).toISOString();
    return refuse({ kind: 'path_not_found', path: source.path, deletedAt });
  }
  if (push.base.kind !== 'sha') {
    return needsBase(
      `a rename needs base_sha, so that no change is lost; the base_sha of ${left.path} is ${left.sha256} now`,
      left,
    );
  }
  const over = quotaOf(push, source, target);
  if (over !== undefined) return over;
  if (!matches(push.base, left)) return { kind: 'conflict', conflictKind: 'edit/edit', reason: 'base', at: source };
  if (!isRespelling) {
    const blocked = blockedBy(push, target);
    if (blocked !== undefined) return blocked;
  }
  const before = [source.file, target.file].filter((file) => file !== undefined).map((file) => source.fileHlc(file));
  return { kind: 'rename', left, ...adoptClock(push, source, before) };
}

/** True when a file is already the result of the rename. Without content, the base identifies the bytes. */
function isWanted({ content, base }: PushRequest, there: FileRecord): boolean {
  return content === undefined ? matches(base, there) : there.sha256 === content.sha256;
}

/** Refuses a rename onto another file or folder. The same bytes under the same path do not block it. */
function blockedBy(push: PushRequest, target: PushState): RenameOutcome | undefined {
  const there = live(target);
  if (there === undefined) {
    const clash = target.clash();
    return clash === undefined ? undefined : refuseClash(push, clash);
  }
  if (there.path !== push.path) return refuseSpelling(push, there.path);
  if (there.sha256 === push.content?.sha256) return undefined;
  return { kind: 'conflict', conflictKind: 'create/create', reason: 'exists', at: target };
}

function quotaOf(push: PushRequest, source: PushState, target: PushState) {
  const isRespelling = source.folded === target.folded;
  const settled = [source, ...(isRespelling ? [] : [target])].flatMap(({ pending }) => settledBy(push, pending));
  const there = isRespelling ? 0 : (live(target)?.size_bytes ?? 0);
  return overQuota(push, source, settled, (live(source)?.size_bytes ?? 0) + there);
}

function live({ file }: PushState): FileRecord | undefined {
  return liveFile(file);
}

/** Within a decision: decides a rename and applies the outcome. */
export function applyRename(options: RenameSources, given: PushStep, from: VaultPath): Decided {
  const { turn } = given;
  const source = gatherState(options, turn, from);
  const target = from.folded === given.push.folded ? source : gatherState(options, turn, given.push, from.folded);
  const left = live(source);
  // Without content the file keeps its own; its row has the hash and the size.
  const step = given.push.content === undefined && left !== undefined ? keeping(given, left) : given;
  const outcome = decideRename(step.push, source, target);
  switch (outcome.kind) {
    case 'refuse':
      throw new Refusal(outcome.fault);
    case 'conflict':
      if (step.content === undefined) throw new Refusal(nothingToKeep(step.push, outcome));
      return keepRefused(options, step, outcome.at, outcome);
    case 'unchanged': {
      const { file } = outcome;
      return doneWith(turn, { status: 'unchanged', record: file, previousHlc: file.hlc, warnings: [] }, false);
    }
    case 'rename':
      return rename(options, step, { source, target, outcome });
  }
}

function keeping(step: PushStep, { sha256, git_sha: gitSha, size_bytes: sizeBytes }: FileRecord): PushStep {
  return { ...step, push: { ...step.push, content: { sha256, gitSha, sizeBytes } } };
}

/** Returns the fault of a conflicting rename without content: there are no bytes to keep. */
function nothingToKeep(push: PushRequest, { at, reason }: ConflictOutcome & { readonly at: PushState }) {
  return { ...conflictFault(push, at, reason, undefined), broughtBytes: false };
}

interface Rename {
  readonly source: PushState;
  readonly target: PushState;
  readonly outcome: Extract<RenameOutcome, { kind: 'rename' }>;
}

function rename(sources: RenameSources, step: PushStep, { source, target, outcome }: Rename): Decided {
  const { push, turn } = step;
  const { change, nowMs } = turn;
  const { left, clock, hubMade, warnings } = outcome;
  const by = { deviceId: push.deviceId, hlc: hubMade ? null : push.hlcText };
  const content = step.content ?? contentOf(turn, left);
  change.setClock(clock);
  if (source !== target) {
    const path = { path: left.path, folded: source.folded };
    change.append({ ...by, path, before: left, status: 'deleted', content: undefined, mtime: null, executable: false });
    // Each change under the hub's clock needs a separate tick.
    if (hubMade) change.setClock(sendTick(change.clock, nowMs));
  }
  const record = change.append({
    ...by,
    path: push,
    before: target.file,
    status: 'renamed',
    content,
    mtime: push.mtime ?? (step.content === undefined ? left.mtime : null),
    executable: push.executable ?? left.executable,
    renamedFrom: left.path,
  });
  settlePending(step, source, record.seq);
  if (source !== target) settlePending(step, target, record.seq);
  sources.contents.adopt(turn.batch, step.content);
  change.finish();
  return doneWith(turn, { status: 'renamed', record, previousHlc: left.hlc, warnings }, true);
}

/** Returns the stored content of the current file, whose pieces both versions share from now on. */
function contentOf({ batch, reader, vaultId }: Turn, { seq }: FileRecord): ReadyContent {
  const content = reader.readyContent(vaultId, seq);
  if (content === undefined) throw new Error('a current file has no content; run `cairn verify`');
  shareContent(batch, content);
  return content;
}
