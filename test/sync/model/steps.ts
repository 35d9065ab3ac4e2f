/** The steps that histories are made of, as fast-check commands. Each can be taken in any state. */
import fc from 'fast-check';
import { burst, crowd } from './burst.ts';
import { pushCutOff } from './cut-off.ts';
import type { SimulatedDevice } from './device.ts';
import { fold, nfc, type Push } from './hub-model.ts';
import { list, pendingConflicts, pullOne, pullPage, pullPaths, pullSince } from './reads.ts';
import { resolveConflict, restoreVersion } from './repairs.ts';
import type { World } from './world.ts';

type Nothing = Record<string, never>;

class Step implements fc.AsyncCommand<Nothing, World> {
  readonly #name: string;
  readonly #run: (world: World) => Promise<void>;

  constructor(name: string, run: (world: World) => Promise<void> | void) {
    this.#name = name;
    this.#run = async (world) => run(world);
  }

  check(): boolean {
    return true;
  }

  run(_model: Nothing, world: World): Promise<void> {
    return this.#run(world);
  }

  toString(): string {
    return this.#name;
  }
}

/** Twins by case and by Unicode form, protected files, a file where others have a folder. */
const COMMON_PATHS = ['notes.md', 'ort/caf\u00e9.md', 'CLAUDE.md', 'a/b/c.md', 'plan.md'] as const;
const ODD_PATHS = [
  'Notes.md',
  'ort/cafe\u0301.md',
  'ort/CAF\u00c9.md',
  'Claude.MD',
  '.github/ci.yml',
  'ort',
  'a/b',
  'A/b/d.md',
] as const;
/** Errors of clocks, none of them near to what the hub still takes. */
export const SKEWS_MS = [0, 30_000, -30_000, 120_000, 3_600_000, -3_600_000, -86_400_000] as const;

const device = fc.nat({ max: 4 });
const path = fc.oneof(
  { arbitrary: fc.constantFrom(...COMMON_PATHS), weight: 3 },
  { arbitrary: fc.constantFrom(...ODD_PATHS), weight: 1 },
);
/** One of the files that a device has. */
const own = fc.nat({ max: 9 });
/** Which line of a text, and what it becomes; equal edits by several hands come now and then. */
const edit = fc.record({ line: fc.nat({ max: 5 }), word: fc.nat({ max: 3 }), isLong: fc.nat({ max: 15 }) });

const START = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
/** More than stands in a version's own row. */
const LONG_LINES = Array.from({ length: 2500 }, (_, at) => `a line of a long text, number ${at}`);

function edited(
  text: string | undefined,
  { line, word, isLong }: { line: number; word: number; isLong: number },
): string {
  const lines = text === undefined || text === '' ? [...START] : text.split('\n');
  lines[line % lines.length] = `edited ${word}`;
  if (isLong === 0) return [...lines.slice(0, START.length), ...LONG_LINES].join('\n');
  return (isLong === 1 ? [] : lines).join('\n');
}

const BASES = [
  'own',
  'own',
  'own',
  'git',
  'unsaid',
  'unsaid',
  'stale',
  'stale',
  'empty',
  'foreign',
  'same hlc',
] as const;
const FATES = ['told', 'told', 'told', 'reply lost', 'reply lost', 'held', 'twice'] as const;

/** The push as it goes out: with the device's clock, and a base that is right, stale, wrong or left out. */
function outgoing(world: World, from: SimulatedDevice, push: Push, how: (typeof BASES)[number]): Push {
  const { model } = world.stage;
  const versions = model.files.get(nfc(push.path)) ?? [];
  const other = model.liveFiles().find((file) => file.path !== nfc(push.path));
  const stale = versions[0]?.sha;
  const known = [...model.files.values()].flat().find(({ sha }) => sha === push.base);
  const bases = {
    own: push.base,
    git: known?.gitSha ?? push.base,
    unsaid: undefined,
    'same hlc': undefined,
    stale: stale ?? push.base,
    empty: '',
    foreign: other?.sha ?? push.base,
  };
  // A device that was copied may send the very clock of what is there.
  const hlc = (how === 'same hlc' ? model.newest(push.path)?.hlc : undefined) ?? from.clock.tick();
  return { ...push, base: bases[how], hlc };
}

async function push(
  world: World,
  at: number,
  where: string,
  base: (typeof BASES)[number],
  fate: (typeof FATES)[number],
) {
  const from = world.device(at);
  const meant = from.pushOf(where);
  if (meant === undefined) return;
  const sent = outgoing(world, from, meant, base);
  if (fate === 'held' || fate === 'reply lost') from.isUnsure = true;
  if (fate === 'held') {
    world.held.push(sent);
    return;
  }
  const outcome = await world.stage.push(sent);
  if (fate === 'twice') await world.stage.push(sent);
  if (fate !== 'reply lost') from.learn(sent, outcome);
}

const edits = fc
  .tuple(device, path, edit)
  .map(
    ([at, where, how]) =>
      new Step(`edit(${at}, ${where}, ${JSON.stringify(how)})`, (world) =>
        world.device(at).write(where, (text) => edited(text, how)),
      ),
  );
const pushes = fc
  .tuple(device, path, fc.constantFrom(...BASES), fc.constantFrom(...FATES))
  .map(
    ([at, where, base, fate]) =>
      new Step(`push(${at}, ${where}, ${base}, ${fate})`, (world) => push(world, at, where, base, fate)),
  );
/** An edit that is pushed at once, which is what most are. */
const saves = fc.tuple(device, path, edit, fc.constantFrom(...BASES), fc.constantFrom(...FATES)).map(
  ([at, where, how, base, fate]) =>
    new Step(`save(${at}, ${where}, ${JSON.stringify(how)}, ${base}, ${fate})`, async (world) => {
      world.device(at).write(where, (text) => edited(text, how));
      await push(world, at, where, base, fate);
    }),
);
const removals = fc.tuple(device, own, fc.constantFrom(...BASES), fc.constantFrom(...FATES)).map(
  ([at, which, base, fate]) =>
    new Step(`remove(${at}, ${which}, ${base}, ${fate})`, async (world) => {
      const where = world.device(at).pathOf(which);
      if (where === undefined) return;
      world.device(at).remove(where);
      await push(world, at, where, base, fate);
    }),
);
/** What comes back after a delete, with or without knowing of it: the same bytes as once. */
const returns = fc.tuple(device, path, fc.nat({ max: 9 }), fc.constantFrom('unsaid', 'own', 'empty')).map(
  ([at, where, which, base]) =>
    new Step(`return(${at}, ${where}, ${which}, ${base})`, async (world) => {
      const versions = world.stage.model.files.get(fold(where))?.filter(({ deleted }) => !deleted) ?? [];
      const version = versions[which % Math.max(versions.length, 1)];
      if (version === undefined) return;
      world.device(at).write(version.path, () => world.stage.contentOf(version.sha));
      await push(world, at, version.path, base, 'told');
    }),
);
const renames = fc.tuple(device, own, path, fc.constantFrom(...BASES), fc.constantFrom(...FATES)).map(
  ([at, which, to, base, fate]) =>
    new Step(`rename(${at}, ${which}, ${to}, ${base}, ${fate})`, async (world) => {
      const from = world.device(at).pathOf(which);
      if (from === undefined) return;
      world.device(at).rename(from, to);
      await push(world, at, to, base, fate);
    }),
);
const arrivals = fc.nat({ max: 9 }).map(
  (which) =>
    new Step(`arrive(${which})`, async (world) => {
      const [late] = world.held.splice(which % Math.max(world.held.length, 1), 1);
      if (late !== undefined) await world.stage.push(late);
    }),
);
const devicePulls = fc.tuple(device, fc.integer({ min: 1, max: 5 }), fc.boolean()).map(
  ([at, limit, leavesOwnOut]) =>
    new Step(`pull(${at}, ${limit}, ${leavesOwnOut})`, async (world) => {
      const to = world.device(at);
      to.apply(await pullPage(world.stage, to.place, { limit, ...(leavesOwnOut ? { device: to.name } : {}) }));
    }),
);
const follows = fc.integer({ min: 1, max: 4 }).map(
  (limit) =>
    new Step(`follow(${limit})`, async (world) => {
      world.byCursor.take(await pullPage(world.stage, world.byCursor.place, { limit }));
    }),
);
const sinces = fc.constant(
  new Step('since', async ({ stage, bySince }) => bySince.see(await pullSince(stage, bySince.since))),
);
const jumps = fc
  .tuple(device, fc.constantFrom(...SKEWS_MS))
  .map(([at, skewMs]) => new Step(`jump(${at}, ${skewMs})`, (world) => world.device(at).clock.jump(skewMs)));
const looks = fc.tuple(path, path, fc.integer({ min: 1, max: 4 })).map(
  ([one, other, limit]) =>
    new Step(`look(${one}, ${other}, ${limit})`, async ({ stage }) => {
      await pullOne(stage, one);
      await pullPaths(stage, [one, other]);
      await list(stage, limit);
      await pendingConflicts(stage);
    }),
);
const resolutions = fc
  .tuple(fc.nat({ max: 9 }), fc.constantFrom('theirs' as const, 'yours' as const), fc.boolean())
  .map(
    ([which, keep, isGuarded]) =>
      new Step(`resolve(${which}, ${keep}, ${isGuarded})`, ({ stage }) =>
        resolveConflict(stage, which, keep, isGuarded),
      ),
  );
const restores = fc
  .tuple(path, fc.nat({ max: 9 }))
  .map(([where, which]) => new Step(`restore(${where}, ${which})`, ({ stage }) => restoreVersion(stage, where, which)));
const bursts = fc
  .tuple(path, fc.boolean())
  .map(([where, isGuarded]) => new Step(`burst(${where}, ${isGuarded})`, (world) => burst(world, where, isGuarded)));
const crowds = path.map((where) => new Step(`crowd(${where})`, (world) => crowd(world, where)));
const cutOffs = fc.tuple(device, path, edit, fc.constantFrom(...BASES), fc.nat({ max: 16 })).map(
  ([at, where, how, base, afterMs]) =>
    new Step(`cutOff(${at}, ${where}, ${JSON.stringify(how)}, ${base}, ${afterMs})`, async (world) => {
      const from = world.device(at);
      from.write(where, (text) => edited(text, how));
      const meant = from.pushOf(where);
      if (meant === undefined) return;
      const sent = outgoing(world, from, meant, base);
      from.learn(sent, await pushCutOff(world.stage, sent, afterMs));
    }),
);
const restarts = fc
  .constantFrom('stop' as const, 'kill' as const)
  .map((how) => new Step(how, ({ stage }) => stage.holder.restart(how)));

/** Any history of at most so many steps. Saves come most often, because they are what the rest acts on. */
export function histories(stepsMax: number) {
  const often = [saves, saves, saves, saves, saves, saves, devicePulls, devicePulls, devicePulls];
  const sometimes = [edits, pushes, pushes, removals, removals, renames, renames, arrivals, arrivals, follows, sinces];
  const seldom = [jumps, looks, resolutions, restores, returns, bursts];
  // A restart costs as much as fifty other steps, and a crowd fills a path for the rest of the history.
  const rare = fc.oneof(
    { arbitrary: restarts, weight: 1 },
    { arbitrary: cutOffs, weight: 1 },
    { arbitrary: crowds, weight: 1 },
    { arbitrary: saves, weight: 2 },
  );
  return fc.commands([...often, ...often, ...sometimes, ...sometimes, ...seldom, rare], {
    maxCommands: stepsMax,
    size: 'max',
  });
}
