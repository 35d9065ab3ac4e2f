/** One round of pushes, kill -9 and restart, and the check of what must be there afterwards. */
import { randomBytes, randomInt } from 'node:crypto';
import type { HubRooms } from './command-room.ts';
import { callTool, structuredOf } from './gateway.ts';
import { type Hub, startHub } from './hub.ts';
import { account } from './mirror.ts';
import { verified } from './mirror-state.ts';
import { Device, type Pushed } from './sync.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CLIENTS = 6;
const OWN_PATHS = 3;
const SHORT_CHARS_MAX = 4000;
/** Long ones stand in pieces that are on the disk before anything is decided. */
const LONG_CHARS_MAX = 2 * 1024 * 1024;
const KILL_MS_MAX = 800;
const HISTORY_PAGE = 200;

interface Refused {
  readonly path: string;
  readonly sha256: string | null;
}

interface ConflictData {
  readonly conflict_id: string | null;
  readonly server_sha256: string | null;
}

export interface SyncTrial {
  readonly dataFolder: string;
  /** The hub that runs now: the one that was looked at after the kill before is the next to be killed. */
  hub: Hub;
  /** Runs commands beside the hub in another way than a process for each. */
  readonly cli?: Hub['cli'] | undefined;
  /** Keys of accounts that push in every round. */
  readonly keys: readonly string[];
  /** What was answered as taken, by account and number. */
  readonly taken: Map<string, Pushed>;
  /** What was refused and kept, by account and conflict. */
  readonly refused: Map<string, Refused>;
}

interface SyncRound {
  readonly taken: number;
  readonly refused: number;
  readonly cutOff: number;
  readonly problems: readonly string[];
}

/** `rooms`: for the commands, and the folder of its hubs. */
export async function newSyncTrial(rooms?: HubRooms): Promise<SyncTrial> {
  const dataFolder = rooms?.dataFolder ?? temporaryFolder();
  const hub = await startHub({ dataFolder });
  const keys = [(await account(hub)).mcp_key, (await account(hub)).mcp_key];
  return { dataFolder, hub, keys, taken: new Map(), refused: new Map(), cli: rooms?.cli };
}

/** Pushes from several devices, kills at some moment, starts again and checks everything. */
export async function syncCrashRound(trial: SyncTrial): Promise<SyncRound> {
  const { hub } = trial;
  const before = { taken: trial.taken.size, refused: trial.refused.size };
  const clients = Array.from({ length: CLIENTS }, (_, at) => pushUntilCutOff(hub, trial, at));
  await new Promise((resolve) => setTimeout(resolve, randomInt(10, KILL_MS_MAX)));
  await hub.kill();
  const ends = await Promise.all(clients);
  trial.hub = await startHub({ dataFolder: trial.dataFolder });
  if (trial.cli !== undefined) trial.hub = { ...trial.hub, cli: trial.cli };
  const problems = await checkAfterCrash(trial.hub, trial);
  return {
    taken: trial.taken.size - before.taken,
    refused: trial.refused.size - before.refused,
    cutOff: ends.filter((end) => end === undefined).length,
    problems: [...ends.filter((end) => end !== undefined), ...problems],
  };
}

/** Pushes one after another. Ends with undefined when the hub is gone, or with the sentence of a wrong answer. */
async function pushUntilCutOff(hub: Hub, trial: SyncTrial, at: number): Promise<string | undefined> {
  const key = trial.keys[at % trial.keys.length] ?? '';
  const device = new Device(hub, key, `device ${at}`);
  device.ms = Date.now() - randomInt(60_000);
  const bases = new Map<string, string>();
  for (;;) {
    const path = randomPath(at);
    const args = randomPush(device, path, bases.get(path));
    const reply = await callTool(hub, 'sync_push', args, key).catch(() => undefined);
    if (reply === undefined) return undefined;
    if (reply.error === undefined) {
      const pushed = structuredOf<Pushed>(reply);
      if (pushed.status !== 'unchanged') trial.taken.set(`${key} ${pushed.seq}`, pushed);
      bases.set(path, pushed.status === 'deleted' ? '' : pushed.sha256);
      continue;
    }
    const { code, message } = reply.error;
    // Shared paths meet: a delete without a file, or a path that has enough conflicts.
    if (code === -32005) bases.delete(path);
    else if (code !== -32006) return `a push of ${path} was answered ${code} ${message}`;
    else {
      const { conflict_id: id, server_sha256: current } = reply.error.data as unknown as ConflictData;
      if (id !== null) trial.refused.set(`${key} ${id}`, { path, sha256: args.sha256 ?? null });
      bases.set(path, current ?? '');
    }
  }
}

/** Mostly one that nobody else writes, sometimes one where all devices meet. */
function randomPath(at: number): string {
  return randomInt(4) === 0 ? `shared/${randomInt(2)}.txt` : `own ${at}/${randomInt(OWN_PATHS)}.txt`;
}

function randomPush(device: Device, path: string, base: string | undefined): { readonly sha256?: string } {
  if (base !== undefined && base !== '' && randomInt(12) === 0) return device.deleteOf(path, { base_sha: base });
  const charsMax = randomInt(10) === 0 ? LONG_CHARS_MAX : SHORT_CHARS_MAX;
  const content = randomBytes(randomInt(charsMax / 2)).toString('hex');
  // Now and then one that says nothing of what it builds on, and goes by its clock.
  return device.pushOf(path, content, randomInt(8) === 0 ? {} : { base_sha: base ?? '' });
}

async function checkAfterCrash(hub: Hub, trial: SyncTrial): Promise<string[]> {
  const report = await verified(hub);
  const problems = report.ok && report.code === 0 ? [] : [`verify: ${report.problems.join('; ')}`];
  for (const key of trial.keys) {
    problems.push(...(await checkTaken(hub, trial, key)), ...(await checkRefused(hub, trial, key)));
  }
  return problems;
}

/** What was answered is in the history of its path, with the number and time that were told. */
async function checkTaken(hub: Hub, { taken }: SyncTrial, key: string): Promise<string[]> {
  const problems: string[] = [];
  const answered = [...taken].filter(([id]) => id.startsWith(`${key} `)).map(([, pushed]) => pushed);
  answered.sort((a, b) => a.seq - b.seq);
  for (const [at, { seq, stored_at }] of answered.entries()) {
    const before = answered[at - 1];
    if (before !== undefined && before.stored_at >= stored_at)
      problems.push(`#${seq} was not stored after #${before.seq}`);
  }
  for (const path of new Set(answered.map((pushed) => pushed.path))) {
    const found = new Map((await historyOf(hub, key, path)).map((version) => [version.seq, version]));
    for (const pushed of answered.filter((one) => one.path === path)) {
      const version = found.get(pushed.seq);
      const isSame = version?.sha256 === pushed.sha256 && version.stored_at === pushed.stored_at;
      if (!isSame || version.hlc !== pushed.hlc) problems.push(`acknowledged and lost: #${pushed.seq} of ${path}`);
    }
  }
  return problems;
}

/** What was refused is still known, and its bytes can be merged. */
async function checkRefused(hub: Hub, { refused }: SyncTrial, key: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [id, { path, sha256 }] of refused) {
    const [owner, conflictId] = id.split(' ');
    if (owner !== key) continue;
    const reply = await callTool(hub, 'sync_merge', { conflict_id: conflictId, favor: 'ours' }, key);
    const merged = reply.result?.['structuredContent'] as
      | { sha256: string | null; ancestor_found: boolean }
      | undefined;
    if (merged === undefined) problems.push(`refused and lost: ${conflictId} of ${path}`);
    // Without an ancestor the favored side is the bytes as they were sent.
    else if (!merged.ancestor_found && merged.sha256 !== sha256)
      problems.push(`refused and changed: ${conflictId} of ${path}`);
  }
  return problems;
}

async function historyOf(hub: Hub, key: string, path: string) {
  const all: Pushed[] = [];
  for (let more = true; more; ) {
    const before = all.at(-1)?.seq;
    const args = { path, limit: HISTORY_PAGE, ...(before === undefined ? {} : { before }) };
    const page = structuredOf<{ versions: Pushed[]; has_more: boolean }>(
      await callTool(hub, 'sync_history', args, key),
    );
    all.push(...page.versions);
    more = page.has_more;
  }
  return all;
}
