/**
 * Counts how far each device is behind a vault: the files and deletions of other devices that it has not pulled. One
 * pass over the current lines for all devices, in the order of sequence numbers, reads only the columns of packs. Pure.
 */

import { isDead } from '../packs/dead-bits.ts';
import type { PackState, TailVersion, VaultView } from '../packs/view-types.ts';
import { replacedBy } from '../pull/choose.ts';

export interface DevicePosition {
  readonly device: string;
  /** The device has received everything up to this sequence number. */
  readonly pulledSeq: number;
}

/** Returns how many changes each device is behind. `view` begins at the lowest of the positions. */
export function changesBehind(view: VaultView, positions: readonly DevicePosition[]): Map<string, number> {
  const counting = new Counting(view.tail, positions);
  for (const pack of view.packs) counting.countPack(pack);
  for (const version of view.tail) counting.count(version.seq, () => counting.ownerOf(version.device()));
  return counting.finish();
}

/** A device, and the number of its own changes after its position. */
interface Counted extends DevicePosition {
  own: number;
}

class Counting {
  readonly #replaced: ReadonlySet<number>;
  /** In ascending order of position. */
  readonly #devices: readonly Counted[];
  readonly #byName: ReadonlyMap<string, Counted>;
  /** Index n: number of changes after the positions of exactly n devices, those with the lowest positions. */
  readonly #behind: number[];
  /** Number of devices whose position is before the current line. */
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
