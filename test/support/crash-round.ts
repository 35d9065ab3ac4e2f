/** One round of uploads, kill -9 and restart, and the check of what must be there afterwards. */
import { randomBytes, randomInt } from 'node:crypto';
import type { HubRooms } from './command-room.ts';
import { type Hub, startHub } from './hub.ts';
import { type Credential, download, get, mirrorAccount, randomCommit, sha256, upload } from './mirror.ts';
import { type ListedBlob, latestOf, listAll, verified } from './mirror-state.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CLIENTS = 5;
const BYTES_MIN = 1024;
const BYTES_MAX = 12 * 1024 * 1024;
const KILL_MS_MAX = 600;

export interface CrashTrial {
  readonly dataFolder: string;
  /** The hub that runs now: the one that was looked at after the kill before is the next to be killed. */
  hub: Hub;
  /** Runs commands beside the hub in another way than a process for each. */
  readonly cli?: Hub['cli'] | undefined;
  readonly owners: readonly Credential[];
  /** What was answered 200, by owner's token, commit and digest. */
  readonly acknowledged: Map<string, Pick<ListedBlob, 'commit_sha' | 'sha256' | 'byte_size' | 'uploaded_at'>>;
}

interface CrashRound {
  readonly acknowledged: number;
  readonly cutOff: number;
  readonly listed: number;
  readonly problems: readonly string[];
}

const idOf = (who: Credential, blob: { readonly commit_sha: string; readonly sha256: string }) =>
  `${who.token} ${blob.commit_sha} ${blob.sha256}`;

/** A data folder with accounts that upload in every round. `rooms`: for the commands, and the folder of its hubs. */
export async function newCrashTrial(rooms?: HubRooms): Promise<CrashTrial> {
  const dataFolder = rooms?.dataFolder ?? temporaryFolder();
  const hub = await startHub({ dataFolder });
  const owners = [await mirrorAccount(hub), await mirrorAccount(hub)];
  return { dataFolder, hub, owners, acknowledged: new Map(), cli: rooms?.cli };
}

/** Uploads from several clients, kills at some moment, starts again and checks everything. */
export async function crashRound(trial: CrashTrial): Promise<CrashRound> {
  const { hub } = trial;
  const before = trial.acknowledged.size;
  const clients = Array.from({ length: CLIENTS }, (_, at) => uploadUntilCutOff(hub, trial, at));
  await new Promise((resolve) => setTimeout(resolve, randomInt(10, KILL_MS_MAX)));
  await hub.kill();
  const ends = await Promise.all(clients);
  trial.hub = await startHub({ dataFolder: trial.dataFolder });
  if (trial.cli !== undefined) trial.hub = { ...trial.hub, cli: trial.cli };
  const { listed, problems } = await checkAfterCrash(trial.hub, trial);
  return {
    acknowledged: trial.acknowledged.size - before,
    cutOff: ends.filter((end) => end === undefined).length,
    listed,
    problems: [...ends.filter((end) => end !== undefined), ...problems],
  };
}

/** Uploads one after another. Ends with undefined when the hub is gone, or with the sentence of a wrong answer. */
async function uploadUntilCutOff(hub: Hub, trial: CrashTrial, at: number): Promise<string | undefined> {
  const who = trial.owners[at % trial.owners.length];
  if (who === undefined) throw new Error('the trial has no owners');
  let commit = randomCommit();
  for (;;) {
    // Sometimes other bytes for the commit before, so that the newest of a commit changes too.
    if (randomInt(5) > 0) commit = randomCommit();
    const bytes = randomBytes(randomSize());
    const answer = await upload(hub, who, commit, bytes).catch(() => undefined);
    if (answer === undefined) return undefined;
    if (answer.status !== 200) return `an upload of ${bytes.length} bytes was answered ${answer.status}`;
    const blob = answer.json() as unknown as ListedBlob;
    trial.acknowledged.set(idOf(who, blob), blob);
  }
}

/** Between the bounds, every magnitude as likely as another. */
function randomSize(): number {
  return Math.floor(BYTES_MIN * (BYTES_MAX / BYTES_MIN) ** Math.random());
}

async function checkAfterCrash(hub: Hub, trial: CrashTrial) {
  const problems: string[] = [];
  const report = await verified(hub);
  if (!report.ok || report.code !== 0) problems.push(`verify: ${report.problems.join('; ')}`);
  if (report.staged_uploads !== 0) problems.push(`${report.staged_uploads} staged uploads outlived the start`);
  const seen = new Map<string, ListedBlob>();
  for (const who of trial.owners) {
    const listed = await listAll(hub, who);
    for (const blob of listed) seen.set(idOf(who, blob), blob);
    problems.push(...(await checkList(hub, who, listed)));
  }
  if (seen.size !== report.blobs) problems.push(`${seen.size} blobs are listed, ${report.blobs} are stored`);
  for (const [id, blob] of trial.acknowledged) {
    const found = seen.get(id);
    const same = found?.byte_size === blob.byte_size && found.uploaded_at === blob.uploaded_at;
    if (!same) problems.push(`acknowledged and lost: ${blob.commit_sha} of ${blob.byte_size} bytes`);
  }
  return { listed: seen.size, problems };
}

/** Whatever is listed is whole, in order, and the first of it is the latest. */
async function checkList(hub: Hub, who: Credential, listed: readonly ListedBlob[]): Promise<string[]> {
  const problems: string[] = [];
  for (const [at, blob] of listed.entries()) {
    const answer = await get(hub, who, `/${blob.commit_sha}/download?sha256=${blob.sha256}`);
    if (answer.status !== 200 || sha256(answer.bytes) !== blob.sha256 || answer.bytes.length !== blob.byte_size) {
      problems.push(`listed and not whole: ${blob.commit_sha}, answered ${answer.status}`);
    }
    const newer = listed[at - 1];
    if (newer !== undefined && newer.uploaded_at < blob.uploaded_at) {
      problems.push(`out of order: ${blob.commit_sha} stands after an older one`);
    }
    const newest = listed.find((other) => other.commit_sha === blob.commit_sha);
    if (newest !== blob) continue;
    const plain = await download(hub, who, blob.commit_sha, { Range: 'bytes=0-0' });
    if (plain.headers['x-tarball-sha256'] !== blob.sha256) problems.push(`not the newest: ${blob.commit_sha}`);
  }
  const latest = await latestOf(hub, who);
  if (latest?.['sha256'] !== listed[0]?.sha256) problems.push('latest is not the first of the list');
  return problems;
}
