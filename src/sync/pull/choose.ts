/**
 * Owns what a pull sends of a vault: which lines of its packs and of the tail after them are current, come after a
 * position, and are not the asking device's own. Packs that are wanted whole are taken without looking at a line. Pure.
 */
import { isDead } from '../packs/dead-bits.ts';
import { lineAt, type PackLine } from '../packs/index-layout.ts';
import type { PackState, TailVersion, VaultView } from '../packs/view-types.ts';
import { type Plan, PlanBuilder } from './plan.ts';
import type { SeqRanges } from './seq-ranges.ts';

export interface Choice {
  /** Lines after this sequence number. */
  readonly after: number;
  /** Tombstones only after this one. */
  readonly deletesAfter: number;
  /** Lines of this device are left out. */
  readonly exceptDevice: string | undefined;
  /** These lines are left out. */
  readonly skip: SeqRanges;
  /** The length of a long line without its content; undefined: long lines are whole. */
  readonly briefBytes: ((seq: number) => number) | undefined;
  readonly linesMax: number;
  /** One line is sent whatever its length. */
  readonly bytesMax: number;
  /** Files and tombstones go into plans of their own. */
  readonly split: boolean;
}

export interface Chosen {
  readonly files: Plan;
  /** Empty unless they were split: they stand among the files. */
  readonly tombstones: Plan;
  /** Everything up to here is sent, or was not asked for. */
  readonly upTo: number;
  readonly hasMore: boolean;
}

export function choose(view: VaultView, choice: Choice): Chosen {
  const choosing = new Choosing(view, choice);
  for (const pack of view.packs) if (!choosing.takePack(pack)) return choosing.finish();
  for (const version of view.tail) if (!choosing.takeVersion(version)) return choosing.finish();
  return choosing.finish();
}

/** The versions that the tail took the place of, in packs and in the tail itself. */
export function replacedBy(tail: readonly TailVersion[]): ReadonlySet<number> {
  return new Set(tail.map(({ previousSeq }) => previousSeq));
}

class Choosing {
  readonly #view: VaultView;
  readonly #choice: Choice;
  readonly #all = new PlanBuilder();
  readonly #tombstones = new PlanBuilder();
  /** What the tail took the place of, in packs and in the tail itself. */
  readonly #replaced: ReadonlySet<number>;
  readonly #replacedInOrder: readonly number[];
  /** The first of them that is not before the pack in turn. */
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

  /** False: there is no room for more. */
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

  /** Every line of it is wanted, as one piece, and there is room for all. */
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

  /** Asked for packs in their order. */
  #replacesWithin(first: number, last: number): boolean {
    const replaced = this.#replacedInOrder;
    while ((replaced[this.#nextReplaced] ?? first) < first) this.#nextReplaced += 1;
    return (replaced[this.#nextReplaced] ?? Number.POSITIVE_INFINITY) <= last;
  }
}
