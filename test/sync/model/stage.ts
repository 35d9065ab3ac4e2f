/** Where a history plays: one vault of a hub, and the model that every answer of it is held against. */
import assert from 'node:assert/strict';
import { type RpcReply, structuredOf } from '../../support/gateway.ts';
import type { Hub } from '../../support/hub.ts';
import { gitShaOf, type Pushed, sha256Of } from '../../support/sync.ts';
import { isNewer } from './clock.ts';
import { type Expected, fold, HubModel, nfc, type Push } from './hub-model.ts';
import { versionsOf } from './reads.ts';

/** A hub that may be another process from one step to the next. */
export interface HubHolder {
  hub: Hub;
  /** Calls a tool, again for as long as the hub is too busy to look at it. */
  readonly call: (tool: string, args: object, key?: string) => Promise<RpcReply>;
  readonly restart: (how: 'stop' | 'kill') => Promise<void>;
  /** How often each thing happened, over all histories: what never did was not tested. */
  readonly tally: Tally;
}

export class Tally {
  readonly counts = new Map<string, number>();

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** What a device is told. */
export type Outcome =
  | { readonly kind: 'taken'; readonly sha: string; readonly hlc: string; readonly path: string }
  | { readonly kind: 'conflict'; readonly id: string; readonly hlc: string | null }
  | { readonly kind: 'refused'; readonly code: number; readonly field: unknown };

const CONTENT_CHARS_TOLD = 60;

type Accepted = Extract<Expected, { kind: 'accept' }>;
type Unchanged = Extract<Expected, { kind: 'unchanged' }>;

export class Stage {
  readonly holder: HubHolder;
  readonly key: string;
  readonly vaultId: string;
  readonly model = new HubModel();
  /** By folded path: the hash of every byte string that the hub took in or kept as a conflict. */
  readonly taken = new Map<string, Set<string>>();
  readonly #contents = new Map<string, string>();

  constructor(holder: HubHolder, key: string, vaultId: string) {
    this.holder = holder;
    this.key = key;
    this.vaultId = vaultId;
  }

  /** What was sent with this hash. */
  contentOf(sha: string): string {
    const content = this.#contents.get(sha);
    if (content === undefined) throw new Error(`nobody sent ${sha}`);
    return content;
  }

  call(tool: string, args: object): Promise<RpcReply> {
    return this.holder.call(tool, { vault_id: this.vaultId, ...args }, this.key);
  }

  /** A call that must be taken. */
  async result<T>(tool: string, args: object): Promise<T> {
    return structuredOf<T>(await this.call(tool, args));
  }

  /** Pushes; the answer must be the model's. */
  async push(push: Push): Promise<Outcome> {
    const expected = this.model.expect(push, Date.now());
    return this.take(push, expected, await this.call('sync_push', argumentsOf(push)));
  }

  /** Holds an answer against what was expected, and brings the model up to it. */
  async take(push: Push, expected: Expected, reply: RpcReply): Promise<Outcome> {
    const actual = outcomeOf(reply);
    const told = `${tell(push)} was answered ${JSON.stringify(reply.error ?? reply.result?.['structuredContent'])}`;
    assert.equal(actual.name, nameOf(expected), told);
    this.holder.tally.add(actual.name);
    if (expected.kind === 'accept' || expected.kind === 'unchanged') return this.#taken(push, expected, reply, told);
    if (expected.kind === 'conflict') return this.#conflict(push, expected, reply, told);
    return { kind: 'refused', code: reply.error?.code ?? 0, field: reply.error?.data?.['field'] };
  }

  async #taken(push: Push, expected: Accepted | Unchanged, reply: RpcReply, told: string): Promise<Outcome> {
    const { model } = this;
    const pushed = structuredOf<Pushed>(reply);
    const settled = [push.path, ...(push.from === undefined ? [] : [push.from])];
    const conflicts = new Set(settled.flatMap((path) => model.settledBy(push, path)));
    if (expected.kind === 'accept') await this.#store(push, expected, pushed, told);
    else assert.equal(pushed.seq, model.newest(push.path)?.seq, told);
    // A rename that was made before settles nothing more.
    if (expected.kind === 'accept' || push.from === undefined) model.settle([...conflicts], push);
    if (push.content !== undefined) {
      assert.equal(pushed.sha256, sha256Of(push.content), told);
      assert.equal(pushed.git_sha, gitShaOf(push.content), told);
      this.#note(push.path, push.content);
    }
    return { kind: 'taken', sha: pushed.sha256, hlc: pushed.hlc, path: pushed.path };
  }

  async #store(push: Push, expected: Accepted, pushed: Pushed, told: string): Promise<void> {
    const { model } = this;
    const previous = model.newest(push.from ?? push.path);
    const { device, content, from } = push;
    const isMove = from !== undefined && fold(from) !== fold(push.path);
    assert.equal(pushed.seq, model.seq + (isMove ? 2 : 1), told);
    assert.ok(pushed.stored_at > model.storedAt, `stored_at must rise: ${told}`);
    assert.equal(pushed.previous_hlc, previous?.hlc ?? null, told);
    assert.equal(pushed.path, nfc(push.path), told);
    assert.equal(pushed.hlc === push.hlc, expected.ownClock, told);
    if (!expected.ownClock) assert.ok(model.isRisen(pushed.hlc), `a clock of the hub's must rise: ${told}`);
    const moved = isMove ? { from } : {};
    const common = { device, hlc: pushed.hlc, storedAt: pushed.stored_at, ...moved };
    if (isMove) {
      const path = previous?.path ?? from;
      const [left] = await versionsOf(this, path, 1);
      assert.equal(left?.seq, pushed.seq - 1, told);
      assert.ok(left.stored_at > model.storedAt && left.stored_at < pushed.stored_at, told);
      if (!expected.ownClock) assert.ok(model.isRisen(left.hlc) && isNewer(pushed.hlc, left.hlc), told);
      model.store({ device, hlc: left.hlc, storedAt: left.stored_at, seq: left.seq, path, deleted: true }, undefined);
    }
    model.store({ ...common, seq: pushed.seq, path: nfc(push.path), deleted: content === undefined }, content);
  }

  #conflict(push: Push, expected: Extract<Expected, { kind: 'conflict' }>, reply: RpcReply, told: string): Outcome {
    const { model } = this;
    const data = reply.error?.data ?? {};
    const id = String(data['conflict_id']);
    const newest = model.newest(expected.at);
    assert.equal(data['server_sha256'], model.live(expected.at)?.sha ?? null, told);
    assert.equal(data['server_hlc'], newest?.hlc ?? null, told);
    assert.equal(data['your_hlc'], push.hlc, told);
    if (expected.id !== undefined) assert.equal(id, expected.id, `the same push again: ${told}`);
    else {
      const own = model.pendingOf(expected.at).filter(({ device }) => device === push.device);
      for (const conflict of own) conflict.status = 'superseded';
      const sha = push.content === undefined ? null : sha256Of(push.content);
      const bytes = Buffer.byteLength(push.content ?? '');
      const { device } = push;
      model.conflicts.set(id, { id, path: nfc(expected.at), device, sha, bytes, status: 'pending' });
    }
    if (push.content !== undefined) this.#note(expected.at, push.content);
    return { kind: 'conflict', id, hlc: newest?.hlc ?? null };
  }

  #note(path: string, content: string): void {
    const sha = sha256Of(content);
    this.#contents.set(sha, content);
    this.taken.set(fold(path), (this.taken.get(fold(path)) ?? new Set()).add(sha));
  }
}

export function argumentsOf({ path, from, content, base, hlc, device, resolves }: Push): object {
  return {
    path,
    ...(content === undefined ? { deleted: true } : { content, sha256: sha256Of(content) }),
    ...(from === undefined ? {} : { from_path: from }),
    ...(base === undefined ? {} : { base_sha: base }),
    ...(resolves === undefined ? {} : { resolves }),
    hlc,
    device_id: device,
  };
}

/** Long contents by their beginning. */
function tell({ content, ...push }: Push): string {
  return JSON.stringify({ ...push, content: content?.slice(0, CONTENT_CHARS_TOLD) });
}

/** One word for what was answered, with the field or status. */
function outcomeOf(reply: RpcReply): { readonly name: string } {
  const { error } = reply;
  if (error === undefined) {
    const { status } = structuredOf<Pushed>(reply);
    return { name: status === 'unchanged' ? status : `accept ${status}` };
  }
  switch (error.code) {
    case -32006:
      return { name: error.data?.['conflict_id'] === null ? 'full' : 'conflict' };
    case -32005:
      return { name: 'not_found' };
    case -32004:
      return { name: 'quota' };
    default:
      return { name: `invalid ${String(error.data?.['field'])} (${error.code})` };
  }
}

function nameOf(expected: Expected): string {
  if (expected.kind === 'accept') return `accept ${expected.status}`;
  return expected.kind === 'invalid' ? `invalid ${expected.field} (-32602)` : expected.kind;
}
