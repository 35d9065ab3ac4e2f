/**
 * Watches the conditions of a running hub: answers what holds now, writes a log line for each change, and passes it on
 * to be told. What was told is remembered in the data folder, so that a restart tells nothing again.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import type { HubCheck, Readiness } from '../../http/route/health.ts';
import { limits } from '../../limits/service.ts';
import { meta } from '../../store/meta/meta.ts';
import { HUB } from '../../store/owners.ts';
import type { Store } from '../../store/store.ts';
import { type ConditionChange, conditionChanges, type Told, type ToldConditions } from './changes.ts';
import { CONDITION_NAMES, type ConditionName, canWrite, conditionOf, conditionsOf, type Facts } from './rules.ts';

/** File of the data folder with what was told. */
const TOLD_FILE = 'conditions';

export interface ConditionWatchOptions {
  readonly dataFolder: string;
  readonly store: Store;
  readonly measure: () => Facts;
  readonly phase: () => Facts['phase'];
  /** Whether a write of an ordinary account is refused now because the disk is nearly full. */
  readonly isReserved: () => boolean;
  /** Tells the operators; `isAllClear`: nothing else holds. Must not block or throw. */
  readonly tell: (change: ConditionChange, isAllClear: boolean) => void;
  readonly log: Log;
}

/** What `/ready` answered, and what it depended on. */
interface Remembered {
  readonly atMs: number;
  readonly phase: Facts['phase'];
  readonly isReserved: boolean;
  readonly answer: Promise<Readiness>;
}

export class ConditionWatch {
  readonly #options: ConditionWatchOptions;
  #told: ToldConditions;
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<void> | undefined;
  #ready: Remembered | undefined;

  constructor(options: ConditionWatchOptions) {
    this.#options = options;
    this.#told = readTold(join(options.dataFolder, TOLD_FILE));
  }

  start(): void {
    this.look();
    this.#timer = setInterval(() => this.look(), limits.conditionsLookedMs);
    this.#timer.unref();
  }

  /** What holds now, with the time since it was first seen. */
  current(): HubCheck[] {
    const facts = this.#options.measure();
    return this.#checksOf(conditionsOf(facts, this.#heldSince()), facts.nowMs);
  }

  /** Whether an ordinary account can write now. Writes a row when no commit has succeeded lately. */
  ready(): Promise<Readiness> {
    const atMs = performance.now();
    const phase = this.#options.phase();
    const isReserved = this.#options.isReserved();
    const known = this.#ready;
    // A start or a stop is told at once, and that the next write will be refused for the disk's sake.
    const isSame = known?.phase === phase && known.isReserved === isReserved;
    if (isSame && atMs - known.atMs < limits.readyRememberedMs) return known.answer;
    const answer = this.#askReady();
    this.#ready = { atMs, phase, isReserved, answer };
    return answer;
  }

  /** Measures, and tells what changed. */
  look(): void {
    const { measure, log, tell } = this.#options;
    try {
      if (this.#options.store.writing.failedMs !== undefined) void this.#probe();
      const facts = measure();
      const { told, changes } = conditionChanges(this.#told, conditionsOf(facts, this.#heldSince()), facts.nowMs);
      this.#told = told;
      for (const change of changes) {
        logChange(log, change);
        tell(change, told.size === 0);
      }
      if (changes.length > 0) this.#save();
    } catch (error) {
      log.warn({ err: error }, 'the conditions of the hub could not be measured');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #askReady(): Promise<Readiness> {
    const { store, measure } = this.#options;
    if (measure().phase === 'ready') {
      const { failedMs, quietMs } = store.writing;
      if (failedMs !== undefined || quietMs > limits.probeAfterMs) await this.#probeFor(limits.probeMsMax);
    }
    const facts = measure();
    // Without what held before: a bound is reached or not.
    const names = conditionsOf(facts, NOTHING_HELD);
    return { isReady: canWrite(names), checks: this.#checksOf(names, facts.nowMs) };
  }

  /** Writes a row and waits for it at most so long. One that takes longer is told as a stalled write. */
  async #probeFor(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([this.#probe(), late]);
    clearTimeout(timer);
  }

  #probe(): Promise<void> {
    const { store, log } = this.#options;
    const value = new Date().toISOString();
    this.#probing ??= store
      .write(HUB, (batch) => batch.put(meta, ['probe'], { value }))
      .catch((error: unknown) => {
        // A refusal was noted and logged by the store.
        if (!(error instanceof Refusal)) log.error({ err: error }, 'a row could not be written to test the disk');
      })
      .finally(() => {
        this.#probing = undefined;
      });
    return this.#probing;
  }

  #heldSince(): Map<ConditionName, number> {
    return new Map([...this.#told].map(([name, { sinceMs }]) => [name, sinceMs]));
  }

  #checksOf(names: readonly ConditionName[], nowMs: number): HubCheck[] {
    return names.map((name) => {
      const { severity, blocksWrites, message } = conditionOf(name);
      const since = new Date(this.#told.get(name)?.sinceMs ?? nowMs).toISOString();
      return { name, severity, blocks_writes: blocksWrites === true, message, since };
    });
  }

  #save(): void {
    const path = join(this.#options.dataFolder, TOLD_FILE);
    try {
      // A full disk must not truncate the earlier file.
      writeFileSync(`${path}.new`, `${JSON.stringify(Object.fromEntries(this.#told))}\n`, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    } catch {
      // The next change tries again. Until then a restart may tell something twice.
    }
  }
}

const NOTHING_HELD = new Map<ConditionName, number>();

const toldFile = z.partialRecord(
  z.enum(CONDITION_NAMES),
  z.strictObject({ sinceMs: z.number(), goneMs: z.number().optional() }),
);

/** Returns what was told before the restart; nothing if the file is missing, or from a version with other conditions. */
function readTold(path: string): ToldConditions {
  try {
    const told = toldFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    return new Map(Object.entries(told) as [ConditionName, Told][]);
  } catch {
    return new Map();
  }
}

function logChange(log: Log, { name, isOver, sinceMs }: ConditionChange): void {
  const { severity, message, title } = conditionOf(name);
  const fields = { condition: name, severity, since: new Date(sinceMs).toISOString() };
  if (isOver) log.warn({ ...fields, over: true }, `over: ${title}`);
  else if (severity === 'critical') log.error(fields, message);
  else log.warn(fields, message);
}
