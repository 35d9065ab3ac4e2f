/** The same guarded pushes under other clocks: what becomes of each must not differ, whatever the devices take the time for. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { clockAt, gitShaOf, sha256Of } from '../../support/sync.ts';
import { fold } from './hub-model.ts';
import type { HubHolder, Stage } from './stage.ts';
import { newStage } from './world.ts';

const DEVICES = 3;
const PATHS = ['notes.md', 'Notes.md', 'a/b.md', 'a/c.md', 'CLAUDE.md'] as const;
const WORDS = ['one', 'two', 'three', 'four'] as const;
const MS_PER_DAY = 86_400_000;
/** From long ago to far beyond what is adopted. */
const SKEWS_MS = [
  0,
  5,
  30_000,
  -30_000,
  290_000,
  310_000,
  -3_600_000,
  3_600_000,
  -4000 * MS_PER_DAY,
  900_000 * MS_PER_DAY,
];
const STUCK_MS = Date.parse('2026-01-01T00:00:00.000Z');

interface Step {
  readonly device: number;
  readonly path: string;
  readonly act: 'write' | 'delete' | 'rename' | 'keep yours';
  readonly to: string;
  readonly word: string;
  readonly base: 'current' | 'git' | 'stale' | 'nothing' | 'foreign';
  readonly isTwice: boolean;
  readonly namesConflict: boolean;
}

/** What a device's clocks say at one step. */
interface Reading {
  readonly skewMs: number;
  readonly form: 'canonical' | 'decimal' | 'epoch' | 'stuck';
  readonly counter: number;
  /** How far off the file's time is; undefined: it is not sent. */
  readonly mtimeSkewMs: number | undefined;
}

const steps = fc.array(
  fc.record<Step>({
    device: fc.nat({ max: DEVICES - 1 }),
    path: fc.constantFrom(...PATHS),
    act: fc.constantFrom('write', 'write', 'write', 'write', 'delete', 'rename', 'keep yours'),
    to: fc.constantFrom(...PATHS),
    word: fc.constantFrom(...WORDS),
    base: fc.constantFrom('current', 'current', 'current', 'git', 'stale', 'stale', 'nothing', 'foreign'),
    isTwice: fc.boolean(),
    namesConflict: fc.boolean(),
  }),
  { minLength: 10, maxLength: 40, size: 'max' },
);
const readings = fc.array(
  fc.record<Reading>({
    skewMs: fc.constantFrom(...SKEWS_MS),
    form: fc.constantFrom('canonical', 'canonical', 'decimal', 'epoch', 'stuck'),
    counter: fc.nat({ max: 0xffff }),
    mtimeSkewMs: fc.option(fc.constantFrom(...SKEWS_MS.slice(0, -1)), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 12, size: 'max' },
);

/** A history of guarded pushes, played in two vaults with clocks that have nothing in common. */
export function guardedProperty(holder: HubHolder) {
  return fc.asyncProperty(steps, readings, readings, async (history, ...clocks) => {
    const [one, other] = await Promise.all(clocks.map((clock) => play(holder, history, clock)));
    assert.deepEqual(one, other);
  });
}

/** Gives everything that was answered, step by step, and what is there at the end; without what names a clock. */
async function play(holder: HubHolder, history: readonly Step[], clock: readonly Reading[]): Promise<unknown[]> {
  const run = new GuardedRun(await newStage(holder));
  const told: unknown[] = [];
  for (const [at, step] of history.entries()) {
    const reading = clock[(at + 5 * step.device) % clock.length];
    if (reading === undefined) throw new Error('a clock needs readings');
    told.push(...(await run.take(step, reading)));
  }
  return [...told, ...(await run.rest())];
}

/** One vault, and what its devices know of it from what they were told. */
class GuardedRun {
  readonly #stage: Stage;
  /** Hashes by compared path, the current one last; null: deleted. */
  readonly #versions = new Map<string, (string | null)[]>();
  /** Ids of conflicts in the order in which they came. */
  readonly #conflicts: { readonly id: string; readonly path: string }[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async take(step: Step, reading: Reading): Promise<unknown[]> {
    const args = step.act === 'keep yours' ? this.#settling(step) : this.#push(step, reading);
    if (args === undefined) return [];
    const tool = step.act === 'keep yours' ? 'sync_resolve_conflict' : 'sync_push';
    const told = [await this.#call(tool, step, args)];
    if (step.isTwice) told.push(await this.#call(tool, step, args));
    return told;
  }

  /** Files, tombstones and pending conflicts. */
  async rest(): Promise<unknown[]> {
    const listed = await this.#stage.result('sync_list', { include_deleted: true });
    const { conflicts } = await this.#stage.result<{ conflicts: object[] }>('sync_pending_conflicts', { limit: 100 });
    // Listed by id, which is random.
    const pending = conflicts.map((conflict) => this.#timeless(conflict));
    return [this.#timeless(listed), pending.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
  }

  #push({ device, path, act, to, word, base, namesConflict }: Step, reading: Reading): object {
    const conflict = namesConflict ? this.#conflicts.findLast((one) => one.path === fold(path)) : undefined;
    const content = `${word}\n`;
    const { mtimeSkewMs } = reading;
    return {
      ...(act === 'rename' && to !== path ? { path: to, from_path: path } : { path }),
      ...(act === 'delete' ? { deleted: true } : { content, sha256: sha256Of(content) }),
      base_sha: this.#base(path, base),
      ...(conflict === undefined ? {} : { resolves: conflict.id }),
      device_id: `device ${device}`,
      hlc: written(reading),
      ...(mtimeSkewMs === undefined ? {} : { mtime: new Date(Date.now() + mtimeSkewMs).toISOString() }),
    };
  }

  #settling({ path, base }: Step): object | undefined {
    const conflict = this.#conflicts.findLast((one) => one.path === fold(path));
    return conflict && { conflict_id: conflict.id, keep: 'yours', base_sha: this.#base(path, base) };
  }

  #base(path: string, kind: Step['base']): string {
    const versions = this.#versions.get(fold(path)) ?? [];
    const current = versions.at(-1) ?? '';
    const others = [...this.#versions].filter(([folded]) => folded !== fold(path)).map(([, shas]) => shas.at(-1));
    const word = WORDS.find((one) => sha256Of(`${one}\n`) === current);
    const bases = {
      current,
      git: word === undefined ? '' : gitShaOf(`${word}\n`),
      stale: versions.find((sha) => sha !== null) ?? sha256Of('never sent'),
      nothing: '',
      foreign: others.find((sha) => typeof sha === 'string') ?? current,
    };
    return bases[kind];
  }

  async #call(tool: string, { path, act, to }: Step, args: object): Promise<unknown> {
    const { result, error } = await this.#stage.call(tool, args);
    this.#stage.holder.tally.add(`guarded ${act}: ${error === undefined ? 'taken' : error.code}`);
    if (error !== undefined) {
      const id = error.data?.['conflict_id'];
      const isNew = typeof id === 'string' && !this.#conflicts.some((one) => one.id === id);
      const at = typeof error.data?.['path'] === 'string' ? error.data['path'] : path;
      if (isNew) this.#conflicts.push({ id, path: fold(at) });
      return [error.code, this.#timeless(error.data)];
    }
    const answer = result?.['structuredContent'] as Record<string, unknown>;
    const sha = z
      .string()
      .nullable()
      .parse(act === 'keep yours' ? answer['current_sha256'] : answer['sha256']);
    if (act === 'rename' && to !== path && fold(to) !== fold(path)) this.#note(path, null);
    this.#note(act === 'rename' ? to : path, act === 'delete' ? null : sha);
    return this.#timeless(answer);
  }

  #note(path: string, sha: string | null): void {
    const versions = this.#versions.get(fold(path)) ?? [];
    if (versions.at(-1) !== sha) this.#versions.set(fold(path), [...versions, sha]);
  }

  /** Without what is a clock, a time or a comment on one; ids of conflicts by the order in which they came. */
  #timeless(value: unknown): unknown {
    if (typeof value === 'string') {
      const at = this.#conflicts.findIndex(({ id }) => id === value);
      return at < 0 ? value : `conflict ${at}`;
    }
    if (Array.isArray(value)) return value.map((one) => this.#timeless(one));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).filter(([name]) => !CLOCKS.has(name));
    return Object.fromEntries(fields.map(([name, one]) => [name, this.#timeless(one)]));
  }
}

const CLOCKS = new Set(
  `hlc previous_hlc your_hlc server_hlc time_diff_seconds server_time vault_id warnings
   stored_at detected_at deleted_at remote_mtime mtime`.split(/\s+/),
);

function written({ skewMs, form, counter }: Reading): string {
  const ms = form === 'stuck' ? STUCK_MS : Date.now() + skewMs;
  if (form === 'epoch') return String(Math.max(ms, 1));
  if (form === 'decimal') return `${ms}-${String(counter).padStart(5, '0')}-device`;
  return clockAt(ms, form === 'stuck' ? 0 : counter);
}
