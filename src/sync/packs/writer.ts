/**
 * Writes packs: from versions not packed yet, and from packs with many dead lines. The bytes go to disk first, as a
 * loose pack; one decision of the vault's actor then stores the index. Packs are written one at a time.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { loosePacks, packBytes, packDead, packs } from '../log/pack-records.ts';
import { versions } from '../log/records.ts';
import { versionLine } from '../log/version.ts';
import { countDead, isDead, withDead } from './dead-bits.ts';
import { encodePackIndex, findLine, lineAt, type PackLine, readPackSummary } from './index-layout.ts';
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

interface NewPack {
  readonly first: number;
  readonly last: number;
  readonly lines: readonly PackLine[];
  /** The bytes of the lines that are not long. */
  readonly bytes: Uint8Array;
}

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

  /** Packs the tail of a vault. Resolves with the first numbers of the changed packs; undefined: too little to pack. */
  async packNext(vaultId: string, takesLittle: boolean): Promise<readonly number[] | undefined> {
    const { views } = this.#options;
    const packedUpTo = views.packedUpTo(vaultId);
    const gathered = gather(views.tail(vaultId, packedUpTo), packedUpTo);
    if (!gathered.full && !(takesLittle && gathered.last > packedUpTo)) return undefined;
    const lines = gathered.lines.map((version) => ({ ...version, device: version.device() }));
    const marked = this.#markDead(vaultId, gathered.replaced);
    const first = packedUpTo + 1;
    const pack = { first, last: gathered.last, lines, bytes: this.#linesOf(vaultId, lines) };
    await this.#put(vaultId, pack, [], (batch) => {
      for (const [ofPack, bits] of marked) batch.put(packDead, [vaultId, ofPack], bits);
    });
    return [...marked.keys(), first];
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
    await this.#put(vaultId, { first, last, lines, bytes }, former, (batch) => {
      for (const { pack } of group) {
        const ofPack = pack.summary.first;
        if (ofPack !== first) batch.remove(packs, [vaultId, ofPack]);
        if (pack.dead !== undefined) batch.remove(packDead, [vaultId, ofPack]);
      }
    });
  }

  /** Stores a pack in place of the `former` packs, whose bytes are removed once no stream reads them. */
  async #put(vaultId: string, pack: NewPack, former: readonly number[], beside: (batch: Batch) => void): Promise<void> {
    const { store, actors, leases } = this.#options;
    const packId = pack.bytes.length === 0 ? 0 : this.#nextId;
    const since = new Date().toISOString();
    if (packId > 0) {
      this.#nextId += 1;
      await store.writeBytes([
        { table: loosePacks, key: [packId], bytes: loosePacks.codec.encode({ since }) },
        { table: packBytes, key: [packId], bytes: pack.bytes },
      ]);
    }
    const index = encodePackIndex({ first: pack.first, last: pack.last, packId }, pack.lines);
    await actors.vault(vaultId).ask((batch) => {
      beside(batch);
      batch.put(packs, [vaultId, pack.first], index);
      if (packId > 0) batch.remove(loosePacks, [packId]);
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

  /** Marks the lines of these versions dead. Returns the new bits by the first number of each pack; stores nothing. */
  #markDead(vaultId: string, replaced: readonly number[]): Map<number, Uint8Array> {
    const { views } = this.#options;
    const found = new Map<number, { readonly pack: PackState; readonly lines: number[] }>();
    let pack: PackState | undefined;
    for (const seq of replaced.toSorted((a, b) => a - b)) {
      if (pack === undefined || pack.summary.last < seq) pack = views.packs.at(vaultId, seq);
      if (pack === undefined) continue;
      const { first } = pack.summary;
      const line = findLine(pack.columns(), first, seq);
      // The version was replaced before its range was packed, so the pack does not contain it.
      if (line < 0) continue;
      const marks = found.get(first) ?? { pack, lines: [] };
      marks.lines.push(line);
      found.set(first, marks);
    }
    return new Map(
      [...found].map(([first, { pack: of, lines }]) => [first, withDead(of.dead, of.summary.lines, lines)]),
    );
  }

  #linesOf(vaultId: string, lines: readonly PackLine[]): Uint8Array {
    const short = lines.filter(({ long }) => !long);
    const bytes = new Uint8Array(short.reduce((sum, { lineBytes }) => sum + lineBytes, 0));
    let filled = 0;
    for (const { seq, lineBytes } of short) {
      const version = this.#options.store.view(versions, [vaultId, seq]);
      if (version === undefined || versionLine(version).length !== lineBytes) {
        throw new Error('a version contradicts its head; run `cairn verify`');
      }
      bytes.set(versionLine(version), filled);
      filled += lineBytes;
    }
    return bytes;
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
