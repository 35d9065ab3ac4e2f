/**
 * Chooses the lines that a pull sends: current lines of packs and of the tail, after a position, and not sent by the
 * pulling device. A pack wanted whole is chosen without looking at its lines. Pure.
 */
import { isDead } from '../packs/dead-bits.ts';
import { lineAt, type PackLine } from '../packs/index-layout.ts';
import type { PackState, TailVersion, VaultView } from '../packs/view-types.ts';
import { type Plan, PlanBuilder } from './plan.ts';
import type { SeqRanges } from './seq-ranges.ts';

export interface Choice {
  /** Only lines after this sequence number. */
  readonly after: number;
  /** Only tombstones after this sequence number. */
  readonly deletesAfter: number;
  /** Lines of this device are left out. */
  readonly exceptDevice: string | undefined;
  /** These lines are left out. */
  readonly skip: SeqRanges;
  /** Bytes of a long line without its content; undefined: long lines are sent with it. */
  readonly briefBytes: ((seq: number) => number) | undefined;
  readonly linesMax: number;
  /** The first line is sent whatever its length. */
  readonly bytesMax: number;
  /** Puts files and tombstones into separate plans. */
  readonly split: boolean;
}

export interface Chosen {
  readonly files: Plan;
  /** Empty unless `split`; otherwise `files` contains the tombstones too. */
  readonly tombstones: Plan;
  /** Everything up to this sequence number is sent or was not wanted. */
  readonly upTo: number;
  readonly hasMore: boolean;
}

export function choose(view: VaultView, choice: Choice): Chosen {
  const choosing = new Choosing(view, choice);
  for (const pack of view.packs) if (!choosing.takePack(pack)) return choosing.finish();
  for (const version of view.tail) if (!choosing.takeVersion(version)) return choosing.finish();
  return choosing.finish();
}

/** Returns the versions replaced by the tail, in packs and in the tail itself. */
export function replacedBy(tail: readonly TailVersion[]): ReadonlySet<number> {
  return new Set(tail.map(({ previousSeq }) => previousSeq));
}

class Choosing {
  readonly #view: VaultView;
  readonly #choice: Choice;
  readonly #all = new PlanBuilder();
  readonly #tombstones = new PlanBuilder();
  /** Versions replaced by the tail, in packs and in the tail itself. */
  readonly #replaced: ReadonlySet<number>;
  readonly #replacedInOrder: readonly number[];
  /** Index of the first replaced version not before the current pack. */
  #nextReplaced = 0;
  #upTo: number;
  #hasMore = false;

  constructor(view: VaultView, choice: Choice) {
    this.#view = view;
    this.#choice = choice;
    this.#upTo = choice.after;
    this.#replaced = replacedBy(view.tail);
    this.#replacedInOrder = [...this.#replaced].toSorted((a, b) => a - b);
  }

  finish(): Chosen {
    return {
      files: this.#all.finish(),
      tombstones: this.#tombstones.finish(),
      upTo: this.#hasMore ? this.#upTo : this.#view.seq,
      hasMore: this.#hasMore,
    };
  }

  /** Returns false when there is no room for more. */
  takePack(pack: PackState): boolean {
    const { summary } = pack;
    if (summary.last <= this.#choice.after || summary.lines === 0) return true;
    if (this.#isWhole(pack)) {
      this.#all.addPack(summary);
      this.#upTo = summary.last;
      return true;
    }
    const columns = pack.columns();
    let offset = 0;
    for (let index = 0; index < summary.lines; index += 1) {
      const line = lineAt(columns, summary.first, index);
      const at = offset;
      if (!line.long) offset += line.lineBytes;
      if (pack.dead !== undefined && isDead(pack.dead, index)) continue;
      if (!this.#isWanted(line, () => line.device)) continue;
      if (!this.#hasRoom(this.#bytesOf(line))) return false;
      this.#take(line, (plan) => plan.addPacked(summary.packId, at, line));
    }
    return true;
  }

  takeVersion(version: TailVersion): boolean {
    if (!this.#isWanted(version, version.device)) return true;
    if (!this.#hasRoom(this.#bytesOf(version))) return false;
    this.#take(version, (plan) => plan.addVersion(version));
    return true;
  }

  /** True when every line of a pack is wanted, in one piece, and all fit. */
  #isWhole({ summary, dead, devices }: PackState): boolean {
    const { after, deletesAfter, exceptDevice, skip, linesMax, bytesMax, split } = this.#choice;
    const { first, last, tombstones, longLines, lines, packBytes } = summary;
    const isReplaced = this.#replacesWithin(first, last);
    if (dead !== undefined || isReplaced || longLines > 0 || first <= after || skip.touches(first, last)) return false;
    if (tombstones > 0 && (split || deletesAfter >= first)) return false;
    if (this.#lines + lines > linesMax || this.#bytes + packBytes > bytesMax) return false;
    return exceptDevice === undefined || !devices().includes(exceptDevice);
  }

  #isWanted({ seq, deleted }: Pick<PackLine, 'seq' | 'deleted'>, device: () => string): boolean {
    const { after, deletesAfter, exceptDevice, skip } = this.#choice;
    if (seq <= after || (deleted && seq <= deletesAfter) || this.#replaced.has(seq) || skip.has(seq)) return false;
    return exceptDevice === undefined || device() !== exceptDevice;
  }

  #hasRoom(lineBytes: number): boolean {
    const { linesMax, bytesMax } = this.#choice;
    const fits = this.#lines < linesMax && (this.#lines === 0 || this.#bytes + lineBytes <= bytesMax);
    if (!fits) this.#hasMore = true;
    return fits;
  }

  #bytesOf({ seq, long, lineBytes }: Pick<PackLine, 'seq' | 'long' | 'lineBytes'>): number {
    return long ? (this.#choice.briefBytes?.(seq) ?? lineBytes) : lineBytes;
  }

  #take(line: Omit<PackLine, 'device'>, add: (plan: PlanBuilder) => void): void {
    const plan = this.#choice.split && line.deleted ? this.#tombstones : this.#all;
    if (line.long && this.#choice.briefBytes !== undefined) plan.addBrief(line.seq, this.#bytesOf(line));
    else if (line.long) plan.addLong(line);
    else add(plan);
    this.#upTo = line.seq;
  }

  get #lines(): number {
    return this.#all.lines + this.#tombstones.lines;
  }

  get #bytes(): number {
    return this.#all.bytes + this.#tombstones.bytes;
  }

  /** True when a version from `first` to `last` was replaced. Call it for packs in order. */
  #replacesWithin(first: number, last: number): boolean {
    const replaced = this.#replacedInOrder;
    while ((replaced[this.#nextReplaced] ?? first) < first) this.#nextReplaced += 1;
    return (replaced[this.#nextReplaced] ?? Number.POSITIVE_INFINITY) <= last;
  }
}
