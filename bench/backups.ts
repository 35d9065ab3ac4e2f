/**
 * Backs up repositories with the command, with restic and with `git bundle` by hand, in one run: the first backup, then
 * increments, then a restore that is held against the original. `node dist/bench/backups.js INCREMENTS REPOSITORY…`
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { backupMachine, gitIn, refsOf } from '../test/support/backup-machine.ts';
import { startHub } from '../test/support/hub.ts';
import { account } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';

const [increments = '10', ...repositories] = process.argv.slice(2);
const COUNT = Number(increments);

interface Figures {
  firstSeconds: number;
  firstBytes: number;
  incrementSeconds: number;
  incrementBytes: number;
  restoreSeconds: number;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
const since = (startMs: number) => (performance.now() - startMs) / 1000;

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** The last commits of the branch, oldest first: the repository begins that far back, and each is one increment. */
function prepared(source: string): { readonly folder: string; readonly commits: readonly string[] } {
  const folder = join(temporaryFolder(), 'repository');
  gitIn(temporaryFolder(), 'clone', '--quiet', '--mirror', source, folder);
  const commits = gitIn(folder, 'rev-list', '--first-parent', `--max-count=${COUNT + 1}`, 'HEAD')
    .split('\n')
    .toReversed();
  const branch = gitIn(folder, 'symbolic-ref', 'HEAD');
  // Tags, and branches of others, contain the later commits: with them the first backup would hold all increments.
  for (const ref of gitIn(folder, 'for-each-ref', '--format=%(refname)').split('\n')) {
    if (ref !== branch) gitIn(folder, 'update-ref', '-d', ref);
  }
  gitIn(folder, 'update-ref', branch, commits[0] ?? '');
  stopUpkeep(folder);
  gitIn(folder, 'repack', '-a', '-d', '--quiet');
  gitIn(folder, 'prune', '--expire=now');
  return { folder, commits: commits.slice(1) };
}

/** Without this git removes packs in the background after many fetches, while the next command reads them. */
const stopUpkeep = (folder: string) => gitIn(folder, 'config', 'gc.auto', '0');

interface Tool {
  backUp(folder: string, index: number): Promise<number>;
  restore(folder: string): Promise<string>;
}

/** Any commit can be fetched: the later ones are not in the repository until they are backed up. */
const UPLOAD_PACK = 'git -c uploadpack.allowAnySHA1InWant=true upload-pack';

async function measure(tool: Tool, source: string): Promise<Figures> {
  const { folder, commits } = prepared(source);
  const branch = gitIn(folder, 'symbolic-ref', 'HEAD');
  let start = performance.now();
  const firstBytes = await tool.backUp(folder, 0);
  const firstSeconds = since(start);
  start = performance.now();
  let incrementBytes = 0;
  for (const [index, commit] of commits.entries()) {
    gitIn(folder, 'fetch', '--quiet', '--no-tags', '--upload-pack', UPLOAD_PACK, source, commit);
    gitIn(folder, 'update-ref', branch, commit);
    incrementBytes += await tool.backUp(folder, index + 1);
  }
  const incrementSeconds = since(start);
  start = performance.now();
  const restored = await tool.restore(folder);
  const restoreSeconds = since(start);
  if (refsOf(restored) !== refsOf(folder)) throw new Error('the restored refs differ');
  return { firstSeconds, firstBytes, incrementSeconds, incrementBytes, restoreSeconds };
}

function restic(): Tool {
  const store = join(temporaryFolder(), 'store');
  const env = {
    ...process.env,
    RESTIC_PASSWORD: 'bench',
    RESTIC_REPOSITORY: store,
    RESTIC_CACHE_DIR: temporaryFolder(),
  };
  const run = (...args: string[]) =>
    execFileSync('restic', ['--quiet', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  run('init');
  let before = bytesIn(store);
  return {
    async backUp(folder) {
      run('backup', folder);
      const grown = bytesIn(store) - before;
      before += grown;
      return grown;
    },
    async restore(folder) {
      const target = temporaryFolder();
      run('restore', 'latest', '--target', target);
      gitIn(join(target, folder), 'fsck', '--strict', '--no-dangling', '--no-progress');
      return join(target, folder);
    },
  };
}

/** A full bundle, then `^` of the commit before: what a person does by hand, without encryption. */
function bundles(): Tool {
  const store = temporaryFolder();
  let before: string[] = [];
  return {
    async backUp(folder, index) {
      const file = join(store, `${index}.bundle`);
      gitIn(folder, 'bundle', 'create', '--quiet', file, '--all', ...before.map((commit) => `^${commit}`));
      before = [gitIn(folder, 'rev-parse', 'HEAD')];
      return statSync(file).size;
    },
    async restore(folder) {
      const target = join(temporaryFolder(), 'restored');
      mkdirSync(target);
      gitIn(target, 'init', '--quiet', '--bare');
      stopUpkeep(target);
      const files = readdirSync(store).toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
      for (const file of files) gitIn(target, 'fetch', '--quiet', join(store, file), '+refs/*:refs/*');
      gitIn(target, 'symbolic-ref', 'HEAD', gitIn(folder, 'symbolic-ref', 'HEAD'));
      gitIn(target, 'fsck', '--strict', '--no-dangling', '--no-progress');
      return target;
    },
  };
}

for (const source of repositories) {
  const hub = await startHub();
  await (async () => {
    const machine = backupMachine(hub, await account(hub));
    await machine.cairn('init');
    const cairn: Tool = {
      async backUp(folder) {
        const { code, stdout, stderr } = await machine.cairnIn(folder, 'push', '--json');
        if (code !== 0) throw new Error(stderr);
        return (JSON.parse(stdout) as { bytes: number }).bytes;
      },
      async restore(folder) {
        const output = join(temporaryFolder(), 'restored');
        const { code, stdout, stderr } = await machine.cairnIn(folder, 'pull', '--output', output);
        if (code !== 0) throw new Error(stderr);
        say(stdout.trim());
        return output;
      },
    };
    for (const [name, tool] of Object.entries({ cairn, restic: restic(), 'git bundle': bundles() })) {
      try {
        const { firstSeconds, firstBytes, incrementSeconds, incrementBytes, restoreSeconds } = await measure(
          tool,
          source,
        );
        say(
          `${name}: first ${firstSeconds.toFixed(1)} s, ${firstBytes} bytes; ${COUNT} increments ${incrementSeconds.toFixed(1)} s, ` +
            `${incrementBytes} bytes; restore with fsck ${restoreSeconds.toFixed(1)} s`,
        );
      } catch (error) {
        say(`${name}: ${(error as Error).message.split('\n').slice(0, 3).join(' ')}`);
      }
    }
  })();
  await hub.stop();
}
