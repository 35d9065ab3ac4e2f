/**
 * The same users over Cairn and over Syncthing, and what is left of their files in each:
 * `node dist/test/client/sync/storm/yardstick-loop.js [seeds] [operations] [first seed]`.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHub } from '../../../support/hub.ts';
import { account } from '../../../support/mirror.ts';
import { randomOf } from '../../../support/random.ts';
import { syncedFolder } from '../../../support/synced-folder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { act } from './actions.ts';
import { Actor } from './actor.ts';
import { Ledger } from './ledger.ts';
import { lostStrings, silentDifferences } from './settled.ts';
import { syncthingNodes, syncthingVersion } from './syncthing.ts';

const NODES = 3;
const PAUSE_MS = 60;
const STILL_MS = 5000;
const KILLS = 0.01;
const REST_MS_MAX = 180_000;
/** How long folders must be equal, or at least not change, to be at rest. */
const REST_MS = 10_000;

/** A way to keep folders equal. */
interface Contender {
  readonly name: string;
  readonly nodes: readonly { readonly folder: string; start(): void; kill(): Promise<void> }[];
  /** Paths on which folders differ without anybody saying so, and byte strings that are nowhere. */
  judge(ledger: Ledger): Promise<{ readonly silent: number; readonly lost: number }>;
  end(): Promise<void>;
}

async function cairn(): Promise<Contender> {
  const hub = await startHub({ env: { CAIRN_RATE_LIMIT: '600' } });
  const { mcp_key: key, email } = await account(hub);
  const places = Array.from({ length: NODES }, () => syncedFolder(hub, key, 'storm'));
  const nodes = places.map((place) => {
    let watch: ReturnType<typeof place.watch> | undefined;
    return {
      folder: place.folder,
      start() {
        watch = place.watch();
      },
      async kill() {
        await watch?.kill();
        watch = undefined;
      },
    };
  });
  return {
    name: 'Cairn',
    nodes,
    async judge(ledger) {
      // What was left out takes part again, as it always does in the other contender.
      for (const place of places) place.write('.cairnignore', '');
      await sleep(REST_MS);
      const silent = await silentDifferences(places);
      return { silent: silent.length, lost: (await lostStrings(hub, email, places, ledger)).length };
    },
    async end() {
      for (const node of nodes) await node.kill();
      await hub.kill();
    },
  };
}

function syncthing(): Contender {
  const nodes = syncthingNodes(NODES);
  return {
    name: syncthingVersion() ?? 'syncthing',
    nodes,
    judge(ledger) {
      const folders = nodes.map(({ folder }) => folder);
      const known = new Set(folders.flatMap((folder) => [...hashesOf(folder, true).values()]));
      const lost = [...ledger.owed].filter(([sha256]) => !known.has(sha256));
      return Promise.resolve({ silent: differing(folders).length, lost: lost.length });
    },
    async end() {
      for (const node of nodes) await node.kill();
    },
  };
}

/** Hash by path of what is synced; with versions also what was replaced. */
function hashesOf(folder: string, withVersions: boolean): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (!entry.isFile() || /^\.(cairn|stfolder)\//.test(path)) continue;
    if (path.startsWith('.stversions/') && !withVersions) continue;
    try {
      found.set(
        path,
        createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex'),
      );
    } catch {
      // Replaced in this moment.
    }
  }
  return found;
}

function differing(folders: readonly string[]): string[] {
  const all = folders.map((folder) => hashesOf(folder, false));
  const paths = new Set(all.flatMap((one) => [...one.keys()]));
  return [...paths].filter((path) => all.some((one) => one.get(path) !== all[0]?.get(path)));
}

/** Resolves when the folders are equal for a while, or nothing changes any more. */
async function rest(folders: readonly string[]): Promise<{ readonly seconds: number; readonly paths: number }> {
  const startMs = Date.now();
  let [sinceMs, before] = [startMs, ''];
  for (;;) {
    const now = JSON.stringify(folders.map((folder) => [...hashesOf(folder, false)]));
    if (now !== before) [sinceMs, before] = [Date.now(), now];
    const isOver = Date.now() - startMs > REST_MS_MAX;
    const paths = differing(folders).length;
    // What is not equal may still become so after a minute, when all is looked at.
    if (isOver || Date.now() - sinceMs > (paths === 0 ? REST_MS : 7 * REST_MS)) {
      return { seconds: Math.round((sinceMs - startMs) / 1000), paths };
    }
    await sleep(500);
  }
}

async function trial(contender: Contender, seed: number, operations: number): Promise<object> {
  const random = randomOf(seed);
  const ledger = new Ledger(STILL_MS);
  const up = contender.nodes.map(() => true);
  const actors = contender.nodes.map(
    ({ folder }, at) =>
      new Actor({ folder, outside: temporaryFolder(), random, ledger, isServed: () => up[at] === true }),
  );
  for (const node of contender.nodes) node.start();
  await sleep(REST_MS);
  for (let at = 0; at < operations; at += 1) {
    const which = Math.floor(random() * NODES);
    const actor = actors[which];
    if (actor !== undefined) act(actor);
    if (random() < KILLS) await restart(contender, { which: Math.floor(random() * NODES), ledger, up });
    await sleep(random() * 2 * PAUSE_MS);
  }
  const folders = contender.nodes.map(({ folder }) => folder);
  const { seconds, paths } = await rest(folders);
  const { silent, lost } = await contender.judge(ledger);
  const { name } = contender;
  return {
    name,
    seed,
    operations,
    'paths differing': paths,
    'in silence': silent,
    owed: ledger.owed.size,
    lost,
    'seconds to rest': seconds,
  };
}

interface Restart {
  readonly which: number;
  readonly ledger: Ledger;
  readonly up: boolean[];
}

async function restart({ nodes }: Contender, { which, ledger, up }: Restart): Promise<void> {
  const node = nodes[which];
  if (node === undefined) return;
  up[which] = false;
  await node.kill();
  node.start();
  up[which] = true;
  ledger.restart(node.folder);
}

const [seeds = 3, operations = 600, first = 1] = process.argv.slice(2).map(Number);
if (syncthingVersion() === undefined) process.stdout.write('Syncthing is not installed (Debian: syncthing).\n');
for (let seed = first; seed < first + seeds; seed += 1) {
  const contenders = [await cairn(), ...(syncthingVersion() === undefined ? [] : [syncthing()])];
  for (const contender of contenders) {
    try {
      process.stdout.write(`${JSON.stringify(await trial(contender, seed, operations))}\n`);
    } finally {
      await contender.end();
    }
  }
}
