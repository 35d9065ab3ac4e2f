/**
 * A storm of syncs that end early: the hub is lost at a random request, before it gets it or before its answer arrives, or the process
 * is killed. Whatever it knew only in memory then, the next one has to find again. Everything comes from one seed but the moment
 * at which a kill meets a process.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { startHub } from '../../../support/hub.ts';
import { keepSave } from '../../../support/keep-save.ts';
import { account } from '../../../support/mirror.ts';
import { randomOf } from '../../../support/random.ts';
import { type Relay, startRelay } from '../../../support/relay.ts';
import { type SyncedFolder, syncedFolder } from '../../../support/synced-folder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { act } from './actions.ts';
import { Actor } from './actor.ts';
import { Journal } from './journal.ts';
import { Ledger } from './ledger.ts';
import { agreeOnRules, knownOf, settle, silentDifferences } from './settled.ts';

export interface CutOptions {
  readonly seed: number;
  readonly devices: number;
  /** In each, every user does something and syncs; then all come to rest. */
  readonly rounds: number;
}

export interface CutReport {
  readonly syncs: number;
  readonly cuts: number;
  readonly different: readonly string[];
  readonly other: readonly string[];
  readonly journal: Journal;
}

/** What a user may have decided, by how often. */
const OPTIONS: readonly (readonly string[])[] = [
  [],
  [],
  [],
  [],
  ['--allow-deletes', '--allow-rewrites'],
  ['--restore-missing'],
  ['--restore-rewritten'],
  ['--send-back'],
];
const SYNCS_MAX = 3;
const ACTS_MAX = 8;
/** More requests than most syncs make. */
const REQUESTS_MAX = 12;
const CUT_PART = 0.5;
const KILL_PART = 0.2;
/** Longer than most syncs take. */
const KILL_SECONDS_MAX = 1.5;
const SAVE_PART = 0.2;

/** Ends at the first difference. */
export async function cutStorm({ seed, devices, rounds }: CutOptions): Promise<CutReport> {
  const random = randomOf(seed);
  const journal = new Journal();
  const below = (count: number) => Math.floor(random() * count);
  const hub = await startHub({ env: { CAIRN_RATE_LIMIT: '0' } });
  const relay = await startRelay(hub);
  const { mcp_key: key } = await account(hub);
  const ledger = new Ledger(0);
  const places = Array.from({ length: devices }, () => syncedFolder(relay, key, 'cuts'));
  const outside = temporaryFolder();
  writeFileSync(`${outside}/secret.txt`, 'outside of every synced folder');
  const users = places.map((place) => {
    const actor = new Actor({ folder: place.folder, outside, random, ledger, isServed: () => false });
    return { place, actor };
  });
  const report = { syncs: 0, cuts: 0, different: [] as string[], other: [] as string[], journal };
  const noteAbout =
    ({ folder }: SyncedFolder) =>
    (text: string) =>
      journal.note(folder.slice(-6), text);
  try {
    for (let round = 0; round < rounds && report.different.length + report.other.length === 0; round += 1) {
      for (let syncs = 0; syncs < SYNCS_MAX * devices; syncs += 1) {
        const { place, actor } = users[below(users.length)] as (typeof users)[number];
        const note = noteAbout(place);
        for (let acts = below(ACTS_MAX); acts >= 0; acts -= 1) {
          const { name, detail } = act(actor);
          if (detail !== undefined) note(`${name}: ${detail}`);
        }
        const path = actor.someFile();
        if (random() < SAVE_PART && path !== undefined && place.has('.cairn')) {
          const base = random() < 0.5 ? '' : place.read(path);
          note(`save: ${path} ${keepSave(place, { path, text: `saved ${seed} ${report.syncs}\n`, base })}`);
        }
        const options = OPTIONS[below(OPTIONS.length)] ?? [];
        const how = random();
        const end = how < CUT_PART ? 'cut' : how < CUT_PART + KILL_PART ? 'killed' : 'whole';
        if (end === 'cut') cutAfter(relay, { requests: below(REQUESTS_MAX), isAnswerLost: random() < 0.5 });
        const wrapper = end === 'killed' ? ['timeout', '-s', 'KILL', `${random() * KILL_SECONDS_MAX}`] : [];
        const { stdout, stderr } = await place.syncUnder(wrapper, ...options);
        relay.rules = {};
        note(`syncs ${options.join(' ')}, ${end}: ${stdout}${stderr}`);
        report.syncs += 1;
        if (end !== 'whole') report.cuts += 1;
      }
      for (const { folder } of places) writeFileSync(`${folder}/.cairnignore`, '');
      report.other.push(...(await settle(places, journal)));
      if (await agreeOnRules(places)) report.other.push(...(await settle(places, journal)));
      for (const one of await silentDifferences(places)) {
        const name = one.split(' differs in silence')[0] ?? '';
        const known = await knownOf(places, name);
        report.different.push([one, ...known, ...journal.about(name)].join('\n    '));
      }
      journal.note('STORM', `round ${round} has come to rest`);
    }
    return report;
  } finally {
    await relay.close();
    await hub.kill();
    for (const { folder } of places) rmSync(folder, { recursive: true, force: true });
  }
}

/** Lets some requests through, and loses each one after them, or its answer. */
function cutAfter(relay: Relay, { requests, isAnswerLost }: { requests: number; isAnswerLost: boolean }): void {
  let count = 0;
  const isLost = () => {
    count += 1;
    return count > requests;
  };
  relay.rules = isAnswerLost
    ? { drops: isLost }
    : {
        holds: async () => {
          if (isLost()) throw new Error('lost before the hub');
        },
      };
}
