/** A run of mixed writes under strace, and what a hub makes of the disk after a power cut at any moment of it. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HubRooms } from './command-room.ts';
import { DISK_CALLS, isComplete, readDiskTrace } from './disk-trace.ts';
import { startHub } from './hub.ts';
import { Ledger, type Write } from './ledger.ts';
import { Desk, writes } from './load.ts';
import { until, verified } from './mirror-state.ts';
import { Person, type Place } from './person.ts';
import { type CrashState, FATES, PowerCuts } from './power-cut.ts';
import { straceWrapper } from './strace.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PEOPLE = 2;
/** Small, so that an image is quick to make; larger than what is put in one piece. */
const BYTES_MAX = 400_000;

export interface PowerCutTrial {
  readonly ledger: Ledger;
  readonly people: readonly Person[];
  readonly masterKey: string;
  /** The lock file as it was in the middle of the run: after a power cut it is there, and says what is no longer so. */
  readonly staleLock: Buffer;
  readonly cuts: PowerCuts;
  readonly moments: readonly number[];
}

export interface CheckedState {
  readonly problems: readonly string[];
  /** Writes that were answered before the cut, and looked for. */
  readonly answered: number;
}

/** Runs `rounds` of load at several desks at once, traced from the start of the hub to its end. */
export async function recordTrial(rounds: number, random: () => number): Promise<PowerCutTrial> {
  const dataFolder = temporaryFolder();
  const ledger = new Ledger();
  const place: Place = { hub: await startHub({ dataFolder }) };
  const people: Person[] = [];
  for (let count = 0; count < PEOPLE; count += 1) people.push(await Person.arrive(place, ledger));
  await place.hub.stop();
  const base = readFileSync(join(dataFolder, 'cairn.mdb'));
  const traceFile = join(temporaryFolder(), 'trace');
  place.hub = await startHub({
    dataFolder,
    wrapper: [...straceWrapper([`trace=${DISK_CALLS}`], traceFile), '-xx', '-s', '100000000'],
  });
  const desks = people.flatMap((person) => [new Desk(person, BYTES_MAX), new Desk(person, BYTES_MAX)]);
  await Promise.all(
    desks.map(async (desk) => {
      for (let round = 0; round < rounds; round += 1) await writes[Math.floor(random() * writes.length)]?.(desk);
    }),
  );
  const staleLock = readFileSync(join(dataFolder, 'cairn.mdb-lock'));
  await place.hub.stop();
  await until('the trace is whole', () => isComplete(traceFile) || undefined);
  const cuts = new PowerCuts(base, await readDiskTrace(traceFile, 'cairn.mdb'), random);
  // Nothing reached the file but by what was traced, and each answer was seen.
  if (!cuts.whole().equals(readFileSync(join(dataFolder, 'cairn.mdb')))) throw new Error('the trace lacks writes');
  if (!ledger.acknowledged().every(({ id }) => cuts.hasAnswer(id))) throw new Error('the trace lacks answers');
  return { ledger, people, masterKey: join(dataFolder, 'master.key'), staleLock, cuts, moments: cuts.moments() };
}

/** States at moments all over the run, each with a fate of what was not flushed; together every fate as often as another. */
export function* someStates({ cuts, moments }: PowerCutTrial, count: number): Generator<CrashState> {
  for (let at = 0; at < count; at += 1) {
    const moment = moments[Math.floor(((at + 0.5) * moments.length) / count)];
    const fate = FATES[at % FATES.length];
    if (moment !== undefined && fate !== undefined) yield cuts.at(moment, fate);
  }
}

/**
 * Starts a hub on the disk as it may be, and says what is wrong with what it shows; then the disk is kept, as it was before the start. `rooms`: starts it
 * there, in the process of the hub before.
 */
export async function checkState(trial: PowerCutTrial, state: CrashState, rooms?: HubRooms): Promise<CheckedState> {
  const dataFolder = rooms?.dataFolder ?? temporaryFolder();
  rmSync(dataFolder, { recursive: true });
  mkdirSync(dataFolder, { mode: 0o700 });
  writeFileSync(join(dataFolder, 'cairn.mdb'), state.image, { mode: 0o600 });
  writeFileSync(join(dataFolder, 'cairn.mdb-lock'), trial.staleLock, { mode: 0o600 });
  copyFileSync(trial.masterKey, join(dataFolder, 'master.key'));
  const isAnswered = ({ id }: Write) => state.isAnswered(id);
  const problems: string[] = [];
  const name = `cut at ${state.moment}, ${state.fate} of ${state.unflushed} unflushed`;
  try {
    const hub = await (rooms?.start() ?? startHub({ dataFolder }));
    try {
      for (const person of trial.people) person.place.hub = hub;
      const found = new Map<string, string>();
      for (const person of trial.people) for (const entry of await person.findAll()) found.set(...entry);
      problems.push(...trial.ledger.problems(found, isAnswered));
      const report = await verified(hub);
      if (!report.ok || report.staged_uploads !== 0) problems.push(`verify: ${report.problems.join('; ')}`);
      const more = await trial.people[0]?.tool('create_task', { content: 'it goes on' });
      if (more?.status !== 200) problems.push(`a write after it was answered ${more?.status}`);
    } finally {
      await hub.kill();
    }
  } catch (error) {
    problems.push((error as Error).message);
  }
  const kept = `${dataFolder}-kept-${state.moment}`;
  if (problems.length > 0) {
    mkdirSync(kept, { mode: 0o700 });
    writeFileSync(join(kept, 'cairn.mdb'), state.image, { mode: 0o600 });
    copyFileSync(trial.masterKey, join(kept, 'master.key'));
  }
  if (rooms === undefined) rmSync(dataFolder, { recursive: true, force: true });
  return {
    problems: problems.map((problem) => `${name} (${kept}): ${problem}`),
    answered: trial.ledger.acknowledged(isAnswered).length,
  };
}
