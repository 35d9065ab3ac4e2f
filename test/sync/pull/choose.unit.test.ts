/** What a pull sends, over any vault: exactly the lines that are current and wanted, in order, and where it goes on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DeadBits, withDead } from '../../../src/sync/packs/dead-bits.ts';
import {
  encodePackIndex,
  findLine,
  lineAt,
  type PackLine,
  readPackColumns,
  readPackDevices,
  readPackSummary,
} from '../../../src/sync/packs/index-layout.ts';
import type { PackState, TailVersion, VaultView } from '../../../src/sync/packs/view-types.ts';
import { type Choice, type Chosen, choose } from '../../../src/sync/pull/choose.ts';
import { type Plan, PlanBuilder, type PlanPart, partAt } from '../../../src/sync/pull/plan.ts';
import { SeqRanges } from '../../../src/sync/pull/seq-ranges.ts';
import { runs, seed } from '../../support/seed.ts';

interface Change extends PackLine {
  readonly path: number;
  readonly previousSeq: number;
}

interface Vault {
  readonly log: readonly Change[];
  readonly view: VaultView;
  readonly packs: readonly PackState[];
}

const EVERYTHING: Choice = {
  after: 0,
  deletesAfter: 0,
  exceptDevice: undefined,
  skip: new SeqRanges(undefined),
  briefBytes: undefined,
  linesMax: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
  split: false,
};

/** The newest change of each path, among those up to a sequence number. */
function currentOf(log: readonly Change[], upTo = log.length): ReadonlySet<number> {
  return new Set(new Map(log.slice(0, upTo).map(({ path, seq }) => [path, seq])).values());
}

/** A pack of what was current in a range when the range ended, with what was replaced until the tail began marked dead. */
function packOf(log: readonly Change[], first: number, last: number, packedUpTo: number): PackState {
  const [packed, now] = [currentOf(log, last), currentOf(log, packedUpTo)];
  const lines = log.slice(first - 1, last).filter(({ seq }) => packed.has(seq));
  const bytes = encodePackIndex({ first, last, packId: first }, lines);
  const columns = readPackColumns(bytes);
  const dead = lines.filter(({ seq }) => !now.has(seq)).map(({ seq }) => findLine(columns, first, seq));
  return {
    summary: readPackSummary(first, bytes),
    // One after another, as commits mark them.
    dead: dead.reduce<DeadBits | undefined>((bits, line) => withDead(bits, lines.length, [line]), undefined),
    devices: () => readPackDevices(bytes),
    columns: () => columns,
  };
}

type Drawn = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

const change = fc.record({
  // Few paths: much is replaced. Many: whole packs stay current.
  path: fc.oneof(fc.nat(9), fc.nat(1000)),
  device: fc.constantFrom('laptop', 'phone', 'nas'),
  deleted: fc.boolean(),
  isLong: fc.boolean(),
  lineBytes: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 100 })),
  sizeBytes: fc.nat(50),
});

/** A change of a path that no other change has, so that its pack stays whole. */
function apart([given, path]: [Drawn, number]): Drawn {
  return { ...given, path, isLong: false };
}

const vaults = fc
  .tuple(
    fc.oneof(fc.array(change, { maxLength: 50 }), fc.array(fc.tuple(change, fc.nat()).map(apart), { maxLength: 20 })),
    fc.array(fc.nat(50), { maxLength: 6 }),
  )
  .map(([changes, cuts]): Vault => {
    const newest = new Map<number, number>();
    const log = changes.map(({ path, device, deleted, isLong, lineBytes, sizeBytes }, index): Change => {
      const previousSeq = newest.get(path) ?? 0;
      newest.set(path, index + 1);
      return { seq: index + 1, previousSeq, path, device, deleted, long: isLong && !deleted, lineBytes, sizeBytes };
    });
    const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut <= log.length).toSorted((a, b) => a - b);
    const packedUpTo = ends.at(-1) ?? 0;
    const packs = ends.map((last, index) => packOf(log, (ends[index - 1] ?? 0) + 1, last, packedUpTo));
    const tail = log.slice(packedUpTo).map(({ device, ...line }): TailVersion => ({ ...line, device: () => device }));
    return { log, packs, view: { seq: log.length, packs, tail } };
  });

/** Numbers as the text of ranges that a client sends. */
function rangesOf(seqs: readonly number[]): SeqRanges {
  const rising = seqs.toSorted((a, b) => a - b);
  const text = rising.reduce((ranges, seq) => {
    const [, last] = /(\d+)$/.exec(ranges) ?? [];
    if (Number(last) === seq - 1) return ranges.replace(/(-\d+)?$/, `-${seq}`);
    return ranges === '' ? `${seq}` : `${ranges},${seq}`;
  }, '');
  return new SeqRanges(text);
}

/** The bytes of a line as they are sent, and those of its content. */
function sizesOf({ briefBytes }: Choice, { long, seq, lineBytes, sizeBytes }: Change) {
  const isBrief = long && briefBytes !== undefined;
  return { lineBytes: isBrief ? briefBytes(seq) : lineBytes, sizeBytes: isBrief ? 0 : sizeBytes };
}

const choices = fc.record<Choice>({
  after: fc.oneof(fc.constant(0), fc.nat(50)),
  deletesAfter: fc.oneof(fc.nat(6), fc.nat(50)),
  exceptDevice: fc.option(fc.constantFrom('laptop', 'phone', 'nobody'), { nil: undefined }),
  skip: fc.uniqueArray(fc.integer({ min: 1, max: 50 }), { maxLength: 20 }).map(rangesOf),
  briefBytes: fc.constantFrom(undefined, () => 1),
  linesMax: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(1000)),
  bytesMax: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 500 }), fc.constant(1_000_000)),
  split: fc.boolean(),
});

/** What must be sent, decided line by line from the log alone. */
function expected({ log }: Vault, choice: Choice): { readonly sent: readonly Change[]; readonly hasMore: boolean } {
  const current = currentOf(log);
  const lines = log.map((line) => ({ ...line, ...sizesOf(choice, line) }));
  const wanted = lines.filter(
    ({ seq, deleted, device }) =>
      current.has(seq) &&
      seq > choice.after &&
      !(deleted && seq <= choice.deletesAfter) &&
      !choice.skip.has(seq) &&
      device !== choice.exceptDevice,
  );
  let bytes = 0;
  const full = wanted.findIndex(({ lineBytes }, index) => {
    bytes += lineBytes;
    return index >= choice.linesMax || (index > 0 && bytes > choice.bytesMax);
  });
  return { sent: full < 0 ? wanted : wanted.slice(0, full), hasMore: full >= 0 };
}

/** The sequence numbers of the lines of a part of a plan, read as a stream reads them. */
function linesOf(part: PlanPart, { packs }: Vault): number[] {
  if (part.kind === 'long' || part.kind === 'brief') return [part.seq];
  if (part.kind === 'versions') return [...part.seqs];
  const pack = packs.find(({ summary }) => summary.packId === part.packId);
  if (pack === undefined) throw new Error('a plan names a pack that is not there');
  const { summary } = pack;
  const kept = [...(part.runs ?? [0, summary.packBytes])];
  const found: number[] = [];
  let offset = 0;
  for (let index = 0; index < summary.lines; index += 1) {
    const { seq, lineBytes, long } = lineAt(pack.columns(), summary.first, index);
    if (long) continue;
    const begins = offset;
    offset += lineBytes;
    if (kept.some((from, at) => at % 2 === 0 && begins >= from && offset <= (kept[at + 1] ?? 0))) found.push(seq);
  }
  return found;
}

function seqsOf(plan: Plan, vault: Vault): number[] {
  return plan.parts.flatMap((part) => linesOf(part, vault));
}

function expectTotals(plan: Plan, lines: readonly Change[]): void {
  const sum = (of: (line: Change) => number) => lines.reduce((total, line) => total + of(line), 0);
  expect({ ...plan, parts: 0, starts: 0 }).toEqual({
    parts: 0,
    starts: 0,
    bytes: sum(({ lineBytes }) => lineBytes),
    files: sum(({ deleted }) => Number(!deleted)),
    tombstones: sum(({ deleted }) => Number(deleted)),
    sizeBytes: sum(({ deleted, sizeBytes }) => (deleted ? 0 : sizeBytes)),
  });
  expect(plan.parts.reduce((total, { bytes }) => total + bytes, 0)).toBe(plan.bytes);
}

function expectChosen(chosen: Chosen, vault: Vault, choice: Choice): void {
  const { sent, hasMore } = expected(vault, choice);
  const isApart = ({ deleted }: Change) => choice.split && deleted;
  const [apart, rest] = [sent.filter(isApart), sent.filter((line) => !isApart(line))];
  expect(seqsOf(chosen.files, vault)).toEqual(rest.map(({ seq }) => seq));
  expect(seqsOf(chosen.tombstones, vault)).toEqual(apart.map(({ seq }) => seq));
  expectTotals(chosen.files, rest);
  expectTotals(chosen.tombstones, apart);
  expect(chosen.hasMore).toBe(hasMore);
  expect(chosen.upTo).toBe(hasMore ? (sent.at(-1)?.seq ?? choice.after) : vault.log.length);
}

test(`[SYN-10, SYN-20] what is sent are the current lines that are wanted, in order, whatever is packed (seed ${seed})`, () => {
  fc.assert(
    fc.property(vaults, choices, (vault, choice) => expectChosen(choose(vault.view, choice), vault, choice)),
    { seed, numRuns: runs(1000) },
  );
});

test(`[SYN-10] pages of any size are together one pull, without a gap and without a line twice (seed ${seed})`, () => {
  fc.assert(
    fc.property(vaults, choices, (vault, choice) => {
      const whole = expected(vault, { ...choice, linesMax: EVERYTHING.linesMax, bytesMax: EVERYTHING.bytesMax });
      const pages: number[] = [];
      let { after } = choice;
      for (let hasMore = true; hasMore; ) {
        const chosen = choose(vault.view, { ...choice, after });
        const page = [...seqsOf(chosen.files, vault), ...seqsOf(chosen.tombstones, vault)];
        if (chosen.hasMore) expect(page.length).toBeGreaterThan(0);
        pages.push(...page.toSorted((a, b) => a - b));
        ({ hasMore, upTo: after } = chosen);
      }
      expect(pages).toEqual(whole.sent.map(({ seq }) => seq));
    }),
    { seed, numRuns: runs(200) },
  );
});

test('[SYN-20] an empty vault and a position at its end are nothing to send', () => {
  const nothing = { files: 0, bytes: 0, parts: [] };
  const empty = choose({ seq: 0, packs: [], tail: [] }, EVERYTHING);
  expect(empty).toMatchObject({ files: nothing, tombstones: nothing, upTo: 0, hasMore: false });
  const log: Change[] = [
    { seq: 1, previousSeq: 0, path: 1, device: 'laptop', deleted: false, long: false, lineBytes: 10, sizeBytes: 1 },
  ];
  const pack = packOf(log, 1, 1, 1);
  const atEnd = choose({ seq: 1, packs: [pack], tail: [] }, { ...EVERYTHING, after: 1 });
  expect(atEnd).toMatchObject({ files: nothing, upTo: 1, hasMore: false });
  const all = choose({ seq: 1, packs: [pack], tail: [] }, EVERYTHING);
  expect(all.files.parts).toEqual([{ kind: 'pack', bytes: 10, packId: 1, runs: undefined }]);
});

test(`[SYN-20] every byte of a plan is found in the part that holds it (seed ${seed})`, () => {
  fc.assert(
    fc.property(vaults, (vault) => {
      const { files } = choose(vault.view, EVERYTHING);
      for (const [index, part] of files.parts.entries()) {
        const start = files.starts[index] as number;
        expect([partAt(files, start), partAt(files, start + part.bytes - 1)]).toEqual([index, index]);
      }
    }),
    { seed, numRuns: runs(100) },
  );
});

test('[SYN-20] neighbours in a pack are one run, and a line of another kind ends the part', () => {
  const plan = new PlanBuilder();
  const line = (seq: number, lineBytes: number) => ({ seq, lineBytes, sizeBytes: 1, deleted: false });
  plan.addPacked(1, 0, line(1, 10));
  plan.addPacked(1, 10, line(2, 5));
  plan.addPacked(1, 40, line(5, 5));
  plan.addLong(line(6, 100));
  plan.addVersion(line(7, 3));
  plan.addVersion(line(8, 4));
  expect([plan.lines, plan.bytes]).toEqual([6, 127]);
  expect(plan.finish()).toMatchObject({
    parts: [
      { kind: 'pack', packId: 1, bytes: 20, runs: Uint32Array.of(0, 15, 40, 45) },
      { kind: 'long', seq: 6, bytes: 100 },
      { kind: 'versions', seqs: [7, 8], ends: [3, 7], bytes: 7 },
    ],
    starts: Float64Array.of(0, 20, 120),
  });
});
