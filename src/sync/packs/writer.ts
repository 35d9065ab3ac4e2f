/**
 * Writes packs: from versions not packed yet, and from packs with many dead lines. The bytes go to disk first, as
 * loose packs; one decision of the vault's actor then stores their indexes.
 */
import { setImmediate } from 'node:timers/promises';
import type { ActorRegistry } from '../../actors/registry.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { loosePacks, packBytes, packDead, packs } from '../log/pack-records.ts';
import { versions } from '../log/records.ts';
import { readVersionMeta, versionLine } from '../log/version.ts';
import { countDead, type DeadBits, isDead, withDead } from './dead-bits.ts';
import {
  encodePackIndex,
  findLine,
  lineAt,
  type PackLine,
  type PackSummary,
  readPackColumns,
  readPackSummary,
} from './index-layout.ts';
import type { PackLeases } from './leases.ts';
import type { VaultViews } from './vault-view.ts';
import type { PackState, TailVersion } from './view-types.ts';

export interface PackWriterOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly views: VaultViews;
  readonly leases: PackLeases;
}

interface Gathered {
  /** Ordered by sequence number. */
  readonly lines: readonly TailVersion[];
  /** Versions of earlier packs replaced by these lines, as sequence numbers. */
  readonly replaced: readonly number[];
  /** Sequence number of the last version looked at. */
  readonly last: number;
  /** True when there is enough for a full pack; otherwise packing can wait for more versions. */
  readonly full: boolean;
}

interface PackContents {
  readonly lines: readonly PackLine[];
  /** The bytes of the lines that are not long. */
  readonly bytes: Uint8Array;
}

/** A pack with its number, not stored yet. */
interface NewPack {
  readonly first: number;
  readonly last: number;
  /** 0: it has no bytes. */
  readonly packId: number;
  readonly index: Uint8Array;
  readonly bytes: Uint8Array;
}

/** What marking lines dead needs to know of a pack. */
type MarkedPack = Pick<PackState, 'dead' | 'columns'> & {
  readonly summary: Pick<PackSummary, 'first' | 'last' | 'lines'>;
};

/** A live line of a pack, and its offset in the bytes of the pack. */
interface LiveLine {
  readonly line: PackLine;
  readonly offset: number;
}

interface LivePack {
  readonly pack: PackState;
  readonly lines: readonly LiveLine[];
  readonly bytes: number;
}

export class PackWriter {
  readonly #options: PackWriterOptions;
  #nextId: number;

  constructor(options: PackWriterOptions) {
    this.#options = options;
    const { store } = options;
    this.#nextId = Math.max(store.lastKey(packBytes)?.[0] ?? 0, store.lastKey(loosePacks)?.[0] ?? 0) + 1;
  }

  /**
   * Packs the next versions of a vault, up to the pack that holds `upTo`, at most as many packs as may be written at once: a pack
   * alone costs two commits. Resolves with the first numbers of the changed packs; none: too little to pack.
   */
  async packNext(vaultId: string, upTo: number, takesLittle: boolean): Promise<readonly number[]> {
    const { views, store } = this.#options;
    const made: NewPack[] = [];
    const dead = new Map<number, DeadBits>();
    let packedUpTo = views.packedUpTo(vaultId);
    let bytes = 0;
    while (packedUpTo < upTo) {
      const gathered = gather(views.tail(vaultId, packedUpTo), packedUpTo);
      if (!gathered.full && !(takesLittle && gathered.last > packedUpTo)) break;
      const pack = this.#newPack({ first: packedUpTo + 1, last: gathered.last }, this.#read(vaultId, gathered.lines));
      this.#markDead(vaultId, gathered.replaced, made, dead);
      made.push(pack);
      packedUpTo = gathered.last;
      // The index of lines that are all long is written too.
      bytes += pack.index.length + pack.bytes.length;
      if (bytes + limits.packBytesMax > store.bytesAtOnceMax) break;
      // Yields to other work: what it changes comes after what was gathered.
      await setImmediate();
    }
    if (made.length === 0) return [];
    await this.#put(vaultId, made, [], (batch) => {
      for (const [ofPack, bits] of dead) batch.put(packDead, [vaultId, ofPack], bits);
    });
    return [...new Set([...dead.keys(), ...made.map(({ first }) => first)])];
  }

  /** Rewrites a worn or small pack without its dead lines, joined with neighbours that fit. */
  async tidy(vaultId: string, first: number): Promise<void> {
    const { views } = this.#options;
    const pack = views.packs.at(vaultId, first);
    if (pack === undefined || pack.summary.first !== first) return;
    const { lines, packBytes: bytes } = pack.summary;
    const dead = countDead(pack.dead);
    const isWorn = dead > 0 && dead * limits.packWornShare >= lines;
    const isSmall = bytes * 2 < limits.packBytesMax && lines * 2 < limits.packVersionsMax;
    if (!isWorn && !isSmall) return;
    const group = this.#groupAround(vaultId, livePack(pack));
    if (group.length > 1 || isWorn) await this.#rewrite(vaultId, group);
  }

  /** Returns the pack and as many neighbours as fit into one pack with it. */
  #groupAround(vaultId: string, centre: LivePack): LivePack[] {
    const { views } = this.#options;
    const group = [centre];
    let [bytes, lines] = [centre.bytes, centre.lines.length];
    for (const side of ['before', 'after'] as const) {
      while (group.length < limits.packsJoinedMax) {
        const edge = (side === 'before' ? group[0] : group.at(-1)) as LivePack;
        const next = views.packs.neighbour(vaultId, edge.pack.summary, side);
        const live = next && livePack(next);
        if (live === undefined) break;
        bytes += live.bytes;
        lines += live.lines.length;
        if (bytes > limits.packBytesMax || lines > limits.packVersionsMax) {
          bytes -= live.bytes;
          lines -= live.lines.length;
          break;
        }
        if (side === 'before') group.unshift(live);
        else group.push(live);
      }
    }
    return group;
  }

  async #rewrite(vaultId: string, group: readonly LivePack[]): Promise<void> {
    const { store } = this.#options;
    const bytes = new Uint8Array(group.reduce((sum, live) => sum + live.bytes, 0));
    let filled = 0;
    for (const { pack, lines } of group) {
      const source = pack.summary.packBytes === 0 ? undefined : store.view(packBytes, [pack.summary.packId]);
      for (const { line, offset } of lines) {
        if (line.long) continue;
        if (source === undefined) throw new Error('the bytes of a pack are not in the store; run `cairn verify`');
        bytes.set(source.subarray(offset, offset + line.lineBytes), filled);
        filled += line.lineBytes;
      }
    }
    const [first, last] = [group[0]?.pack.summary.first ?? 0, group.at(-1)?.pack.summary.last ?? 0];
    const lines = group.flatMap((live) => live.lines.map(({ line }) => line));
    const former = group.map(({ pack }) => pack.summary.packId).filter((packId) => packId > 0);
    const pack = this.#newPack({ first, last }, { lines, bytes });
    await this.#put(vaultId, [pack], former, (batch) => {
      for (const { pack } of group) {
        const ofPack = pack.summary.first;
        if (ofPack !== first) batch.remove(packs, [vaultId, ofPack]);
        if (pack.dead !== undefined) batch.remove(packDead, [vaultId, ofPack]);
      }
    });
  }

  #newPack(range: Pick<PackSummary, 'first' | 'last'>, { lines, bytes }: PackContents): NewPack {
    const packId = bytes.length === 0 ? 0 : this.#nextId;
    if (packId > 0) this.#nextId += 1;
    return { ...range, packId, index: encodePackIndex({ ...range, packId }, lines), bytes };
  }

  /** Stores packs in place of the `former` ones, whose bytes are removed once no stream reads them. */
  async #put(
    vaultId: string,
    made: readonly NewPack[],
    former: readonly number[],
    beside: (batch: Batch) => void,
  ): Promise<void> {
    const { store, actors, leases } = this.#options;
    const since = new Date().toISOString();
    const withBytes = made.filter(({ packId }) => packId > 0);
    if (withBytes.length > 0) {
      const loose = loosePacks.codec.encode({ since });
      await store.writeBytes(
        withBytes.flatMap(({ packId, bytes }) => [
          { table: loosePacks, key: [packId], bytes: loose },
          { table: packBytes, key: [packId], bytes },
        ]),
      );
    }
    await actors.vault(vaultId).ask((batch) => {
      beside(batch);
      for (const { first, index } of made) batch.put(packs, [vaultId, first], index);
      for (const { packId } of withBytes) batch.remove(loosePacks, [packId]);
      for (const formerId of former) batch.put(loosePacks, [formerId], { since });
    });
    leases.retire(former);
  }

  /** Hides all packs of a vault from pulls. Their bytes are removed once no stream reads them. */
  async drop(vaultId: string): Promise<void> {
    const { actors, leases } = this.#options;
    const since = new Date().toISOString();
    const former = await actors.vault(vaultId).ask((batch): number[] => {
      const found: number[] = [];
      for (const { key, value } of batch.range(packs, { prefix: [vaultId] })) {
        const { packId } = readPackSummary(key[1], value);
        batch.remove(packs, key);
        if (packId > 0) found.push(packId);
      }
      for (const key of batch.keys(packDead, [vaultId])) batch.remove(packDead, key);
      for (const packId of found) batch.put(loosePacks, [packId], { since });
      return found;
    });
    leases.retire(former);
  }

  /**
   * Marks the lines of these versions dead, in stored packs and in those that were `made` and are not stored yet. Adds the new
   * bits to `dead`, by the first number of each pack; stores nothing.
   */
  #markDead(vaultId: string, replaced: readonly number[], made: readonly NewPack[], dead: Map<number, DeadBits>): void {
    let pack: MarkedPack | undefined;
    for (const seq of replaced.toSorted((a, b) => a - b)) {
      if (pack === undefined || pack.summary.last < seq) pack = this.#packAt(vaultId, seq, made);
      if (pack === undefined) continue;
      const { first, lines } = pack.summary;
      const line = findLine(pack.columns(), first, seq);
      // The version was replaced before its range was packed, so the pack does not contain it.
      if (line >= 0) dead.set(first, withDead(dead.get(first) ?? pack.dead, lines, [line]));
    }
  }

  #packAt(vaultId: string, seq: number, made: readonly NewPack[]): MarkedPack | undefined {
    const holder = made.find(({ first, last }) => first <= seq && seq <= last);
    if (holder === undefined) return this.#options.views.packs.at(vaultId, seq);
    const { first, index } = holder;
    return { summary: readPackSummary(first, index), dead: undefined, columns: () => readPackColumns(index) };
  }

  /** Reads what a pack of these versions contains. */
  #read(vaultId: string, gathered: readonly TailVersion[]): PackContents {
    const bytes = new Uint8Array(gathered.reduce((sum, { long, lineBytes }) => sum + (long ? 0 : lineBytes), 0));
    let filled = 0;
    const lines = gathered.map((line): PackLine => {
      const { seq, lineBytes, long } = line;
      const version = this.#options.store.view(versions, [vaultId, seq]);
      if (!long) {
        if (version === undefined || versionLine(version).length !== lineBytes) {
          throw new Error('a version contradicts its head; run `cairn verify`');
        }
        bytes.set(versionLine(version), filled);
        filled += lineBytes;
      }
      return { ...line, device: version === undefined ? '' : readVersionMeta(version).device_id };
    });
    return { lines, bytes };
  }
}

/** Gathers versions, from the first unpacked one on, until they fill a pack. Drops those replaced on the way. */
function gather(tail: Iterable<TailVersion>, packedUpTo: number): Gathered {
  const lines = new Map<number, TailVersion>();
  const replaced: number[] = [];
  let [last, looked, bytes] = [packedUpTo, 0, 0];
  const done = (full: boolean): Gathered => ({ lines: [...lines.values()], replaced, last, full });
  for (const version of tail) {
    const added = version.long ? 0 : version.lineBytes;
    if (looked >= limits.packVersionsMax || bytes + added > limits.packBytesMax) return done(true);
    looked += 1;
    last = version.seq;
    bytes += added;
    const before = lines.get(version.previousSeq);
    if (before !== undefined) {
      lines.delete(before.seq);
      bytes -= before.long ? 0 : before.lineBytes;
    } else if (version.previousSeq > 0 && version.previousSeq <= packedUpTo) replaced.push(version.previousSeq);
    lines.set(version.seq, version);
  }
  return done(false);
}

function livePack(pack: PackState): LivePack {
  const columns = pack.columns();
  const lines: LiveLine[] = [];
  let [offset, bytes] = [0, 0];
  for (let index = 0; index < pack.summary.lines; index += 1) {
    const line = lineAt(columns, pack.summary.first, index);
    if (pack.dead === undefined || !isDead(pack.dead, index)) {
      lines.push({ line, offset });
      bytes += line.long ? 0 : line.lineBytes;
    }
    offset += line.long ? 0 : line.lineBytes;
  }
  return { pack, lines, bytes };
}
