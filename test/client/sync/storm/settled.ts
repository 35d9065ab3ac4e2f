/** What must hold once a storm is over and everything was synced: equal folders, visible conflicts, no byte string lost. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readState } from '../../../../src/client/sync/base/state-file.ts';
import type { CommandResult, Hub } from '../../../support/hub.ts';
import { contentsOf, type SyncedFolder } from '../../../support/synced-folder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { Journal } from './journal.ts';
import { hashOf, type Ledger, type Owed } from './ledger.ts';

/** More rounds than any storm needs: a conflict kept in one folder may bring a change to all. */
const ROUNDS_MAX = 6;

interface Status {
  readonly conflict: readonly string[];
  readonly problem: Readonly<Record<string, string>>;
  readonly links: readonly string[];
}

/** Syncs all folders in turn until a whole round moves nothing. Returns what went wrong. */
export async function settle(folders: readonly SyncedFolder[], journal: Journal): Promise<string[]> {
  let before = '';
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const problems: string[] = [];
    for (const folder of folders) {
      const result = await folder.sync('--allow-deletes', '--allow-rewrites');
      journal.note(folder.folder.slice(-6), `settles: ${result.stdout}${result.stderr}`);
      problems.push(...wrongWith(folder, result));
    }
    if (problems.length > 0) return problems;
    const after = hashOf(Buffer.from(JSON.stringify(folders.map(hashesIn))));
    if (after === before) return [];
    before = after;
  }
  return ['the folders never came to rest'];
}

/** Ends conflicts of the rules: what one folder leaves out cannot be compared with another. True when there was one. */
export async function agreeOnRules(folders: readonly SyncedFolder[]): Promise<boolean> {
  let isChanged = false;
  for (const folder of folders) {
    if (!(await toldOf(folder)).has('.cairnignore')) continue;
    folder.write('.cairnignore', '');
    const { code, stderr } = await folder.sync('resolve', '.cairnignore', '--keep', 'mine');
    if (![0, 1, 3].includes(code)) throw new Error(`resolve in ${folder.folder}: ${stderr}`);
    isChanged = true;
  }
  return isChanged;
}

/** What is wrong with the rules after each user emptied them: what was written last must stand. */
export async function wrongRules(folders: readonly SyncedFolder[]): Promise<string[]> {
  const texts = folders.map((folder) => folder.read('.cairnignore'));
  const [one] = folders;
  if (one === undefined || texts.every((text) => text === '')) return [];
  const { stdout } = await one.sync('history', '.cairnignore', '--json');
  return [`each user emptied .cairnignore, and it is ${JSON.stringify(texts)}; its history: ${stdout.slice(-4000)}`];
}

/** The files of a folder with their hashes: all contents of a storm are longer than a text may be. */
const hashesIn = ({ folder }: SyncedFolder) =>
  Object.entries(contentsOf(folder)).map(([path, content]) => [path, hashOf(Buffer.from(content))]);

/** 0: up to date; 1: files that cannot be synced; 3: conflicts. Anything else, and a stack trace, is wrong. */
function wrongWith({ folder }: SyncedFolder, { code, stdout, stderr }: CommandResult): string[] {
  const isWrong = ![0, 1, 3].includes(code) || /\n\s+at .*:\d+/.test(stderr);
  return isWrong ? [`a sync of ${folder} ended with ${code}: ${stdout.slice(-500)} ${stderr.slice(-1500)}`] : [];
}

/** Paths on which folders differ without any of them saying so. */
export async function silentDifferences(folders: readonly SyncedFolder[]): Promise<string[]> {
  const found: string[] = [];
  const all = folders.map(({ folder }) => contentsOf(folder));
  const paths = new Set(all.flatMap((contents) => Object.keys(contents)));
  const told = await Promise.all(folders.map((folder) => toldOf(folder)));
  for (const path of paths) {
    const hashes = all.map((contents) => shortHash(contents[path]));
    const isEqual = hashes.every((hash) => hash === hashes[0]);
    if (!isEqual && !told.some((paths_) => paths_.has(path))) {
      const rules = all.map((contents) =>
        Buffer.from(contents['.cairnignore'] ?? '', 'base64')
          .toString()
          .trim(),
      );
      found.push(`${path} differs in silence: ${hashes.join(' ')}; ignored: ${JSON.stringify(rules)}`);
    }
  }
  return found;
}

/** What the hub and each folder know of a path, in any spelling: where its difference comes from. */
export async function knownOf(folders: readonly SyncedFolder[], path: string): Promise<string[]> {
  const about = (names: Iterable<readonly [string, unknown]>) =>
    JSON.stringify(
      [...names].filter(([name]) => compared(name) === compared(path)),
      (_, value) => (value instanceof Set ? [...value] : value),
    );
  const lines = folders.map(({ folder }, at) => {
    const state = readState(folder);
    if (state === undefined) return `device ${at} has no state`;
    const { device_id: device, base, waits, sent, cursor, own } = state;
    return `device ${at} ${folder.slice(-6)} ${device}: base ${about(base)} waits ${about(waits)} sent ${about(sent)} cursor ${cursor} own ${JSON.stringify(own)}`;
  });
  const [one] = folders;
  const history = await one?.sync('history', path, '--json');
  return [...lines, `history: ${history?.stdout.slice(0, 6000)}${history?.stderr}`];
}

/** What a folder says is a conflict, a problem, or still to be done; and what lies below those paths. */
async function toldOf(folder: SyncedFolder): Promise<{ has: (path: string) => boolean }> {
  const { stdout, stderr } = await folder.sync('status', '--json');
  if (stdout === '') throw new Error(`status of ${folder.folder}: ${stderr}`);
  const { conflict, problem, links } = JSON.parse(stdout) as Status;
  const told = [...conflict, ...links, ...Object.keys(problem)].map(compared);
  return {
    has: (path) => {
      const wanted = compared(path);
      return told.some((one) => one === wanted || wanted.startsWith(`${one}/`) || one.startsWith(`${wanted}/`));
    },
  };
}

const compared = (path: string): string => path.normalize('NFC').toLowerCase();

const shortHash = (content: string | undefined): string =>
  content === undefined ? '-' : hashOf(Buffer.from(content)).slice(0, 8);

/** Byte strings that stood still and are neither current, nor in a version, nor in a conflict, nor in a folder. */
export async function lostStrings(
  hub: Pick<Hub, 'cli'>,
  email: string,
  folders: readonly SyncedFolder[],
  ledger: Ledger,
): Promise<(Owed & { readonly sha256: string })[]> {
  const archive = join(temporaryFolder(), 'archive');
  const done = await hub.cli('export', '--email', email, archive, '--json');
  if (done.code !== 0) throw new Error(`export ended with ${done.code}: ${done.stderr}`);
  const lines = readFileSync(join(archive, 'vaults.ndjson'), 'utf8');
  const known = new Set([...lines.matchAll(/"(?:your_)?sha256":"([0-9a-f]{64})"/g)].map((match) => match[1]));
  for (const { folder } of folders) {
    for (const content of Object.values(contentsOf(folder))) {
      known.add(hashOf(Buffer.from(content, 'base64')));
    }
  }
  return [...ledger.owed].filter(([sha256]) => !known.has(sha256)).map(([sha256, owed]) => ({ sha256, ...owed }));
}
