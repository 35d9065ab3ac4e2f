/**
 * Owns how far devices are behind a vault: the files and deletions of others that each was not given. One pass over the
 * current lines for all devices, in the order of their numbers, over the columns of packs alone. Pure.
 */

import { isDead } from '../packs/dead-bits.ts';
import type { PackState, TailVersion, VaultView } from '../packs/view-types.ts';
import { replacedBy } from '../pull/choose.ts';

export interface DevicePosition {
  readonly device: string;
  /** It was given everything up to here. */
  readonly pulledSeq: number;
}

/** How many changes each device is behind. `view` begins at the least of the positions. */
export function changesBehind(view: VaultView, positions: readonly DevicePosition[]): Map<string, number> {
  const counting = new Counting(view.tail, positions);
  for (const pack of view.packs) counting.countPack(pack);
  for (const version of view.tail) counting.count(version.seq, () => counting.ownerOf(version.device()));
  return counting.finish();
}

/** A device, and its own changes after its position. */
interface Counted extends DevicePosition {
  own: number;
}

class Counting {
  readonly #replaced: ReadonlySet<number>;
  /** By rising position. */
  readonly #devices: readonly Counted[];
  readonly #byName: ReadonlyMap<string, Counted>;
  /** Changes that lie after the positions of so many devices, counted from the least. */
  readonly #behind: number[];
  /** How many devices' positions lie before the line in turn. */
  #passed = 0;

  constructor(tail: readonly TailVersion[], positions: readonly DevicePosition[]) {
    this.#replaced = replacedBy(tail);
    this.#devices = positions
      .map(({ device, pulledSeq }) => ({ device, pulledSeq, own: 0 }))
      .sort((a, b) => a.pulledSeq - b.pulledSeq);
    this.#byName = new Map(this.#devices.map((one) => [one.device, one]));
    this.#behind = Array.from({ length: positions.length + 1 }, () => 0);
  }

  ownerOf(device: string): Counted | undefined {
    return this.#byName.get(device);
  }

  countPack({ summary, dead, columns }: PackState): void {
    const { seqOffsets, devices, deviceNames } = columns();
    const owners = deviceNames.map((name) => this.ownerOf(name));
    for (let line = 0; line < summary.lines; line += 1) {
      if (dead !== undefined && isDead(dead, line)) continue;
      this.count(summary.first + (seqOffsets[line] ?? 0), () => owners[devices[line] ?? 0]);
    }
  }

  count(seq: number, ownerOf: () => Counted | undefined): void {
    if (this.#replaced.has(seq)) return;
    while (this.#passed < this.#devices.length && (this.#devices[this.#passed]?.pulledSeq ?? 0) < seq)
      this.#passed += 1;
    this.#behind[this.#passed] = (this.#behind[this.#passed] ?? 0) + 1;
    const owner = ownerOf();
    if (owner !== undefined && owner.pulledSeq < seq) owner.own += 1;
  }

  finish(): Map<string, number> {
    const found = new Map<string, number>();
    let behind = 0;
    for (let index = this.#devices.length - 1; index >= 0; index -= 1) {
      behind += this.#behind[index + 1] ?? 0;
      const one = this.#devices[index];
      if (one !== undefined) found.set(one.device, behind - one.own);
    }
    return found;
  }
}
