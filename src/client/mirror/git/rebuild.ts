/** Builds a repository from bundles and manifests, checks it with `git fsck --strict`, and checks out HEAD. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { backupExit } from '../exit-codes.ts';
import { type Manifest, type Ref, refsAfter, refsDigest, type SubmoduleRecord } from '../manifest.ts';
import type { MemberFile } from '../member-files.ts';
import type { RestoreBudget } from '../open-archive.ts';
import { addBundle, CAREFUL, checkObjects, readRefs, writeRefs } from './bundle.ts';
import { lfsPath } from './lfs.ts';
import { addSubmodules, finishSubmodules } from './restore-submodules.ts';
import { eachLine, git } from './run-git.ts';

const { damaged } = backupExit;

export class RebuiltRepository {
  readonly #folder: string;
  readonly #gitFolder: string;
  /** Of the archives added so far. Git gets those of the last one alone: refs of a chain would be written for each. */
  #refs: readonly Ref[] = [];
  /** The newest record of each. */
  readonly #submodules = new Map<string, SubmoduleRecord>();

  private constructor(folder: string) {
    this.#folder = folder;
    this.#gitFolder = join(folder, '.git');
  }

  /** An empty repository in a folder. */
  static async create(folder: string): Promise<RebuiltRepository> {
    await initRepository(folder);
    return new RebuiltRepository(folder);
  }

  /** Adds an archive: its objects, and what it says of refs. Throws ClientError when it does not continue what was added before. */
  async apply(manifest: Manifest, members: readonly MemberFile[]): Promise<void> {
    const { base_refs_sha256: base } = manifest;
    if (base !== null && base !== refsDigest(this.#refs)) {
      throw new ClientError('an archive of this backup continues another state than the one before it.', damaged);
    }
    if (manifest.shallow.length > 0)
      writeFileSync(join(this.#gitFolder, 'shallow'), `${manifest.shallow.join('\n')}\n`);
    for (const { name, file } of members) {
      if (name === 'repository.bundle') await addBundle(this.#gitFolder, file);
      else if (name.startsWith('lfs/')) this.#keepLfs(name.slice('lfs/'.length), file);
    }
    const after = refsAfter(this.#refs, manifest);
    if (refsDigest(after) !== manifest.refs_sha256) {
      throw new ClientError('the refs of an archive are not those that it was made of.', damaged);
    }
    this.#refs = after;
    await addSubmodules(this.#gitFolder, manifest.submodules, members);
    for (const one of manifest.submodules) this.#submodules.set(one.git_path, one);
  }

  /** Writes and compares all refs, runs `git fsck --strict`, and checks out HEAD. Throws ClientError. */
  async finish(manifest: Manifest, budget: RestoreBudget): Promise<{ readonly refs: number; readonly flaws: number }> {
    const { head } = manifest;
    await writeRefs(this.#gitFolder, [], this.#refs);
    await finishSubmodules(this.#gitFolder, [...this.#submodules.values()]);
    const refusal = 'HEAD of the backup cannot be set.';
    const options = { refusal, exitCode: damaged };
    if (head.ref === null) await git(this.#folder, ['update-ref', '--no-deref', 'HEAD', head.commit], options);
    else await git(this.#folder, ['symbolic-ref', 'HEAD', head.ref], options);
    const refs = await readRefs(this.#folder, []);
    if (refsDigest(refs) !== manifest.refs_sha256) {
      throw new ClientError('the restored refs differ from those of the backup.', damaged);
    }
    const flaws = await checkObjects(this.#folder, this.#gitFolder);
    await requireRoom(this.#folder, head.commit, budget);
    // Objects are included by choice: a repository that has none is restored without git-lfs.
    const hasLfs = manifest.has_lfs && existsSync(join(this.#gitFolder, 'lfs', 'objects'));
    const lfs = hasLfs ? {} : { GIT_LFS_SKIP_SMUDGE: '1' };
    // A branch without its commit among the chosen refs: HEAD then names the commit.
    const isBorn = head.ref === null || refs.some(([name]) => name === head.ref);
    if (!isBorn) await git(this.#folder, ['update-ref', '--no-deref', 'HEAD', head.commit], options);
    await git(this.#folder, [...CAREFUL, 'reset', '--hard', '--quiet', head.commit], {
      refusal: 'git cannot check out the restored files.',
      exitCode: damaged,
      env: lfs,
    });
    if (hasLfs) await checkOutLfs(this.#folder);
    if (manifest.submodules.length > 0) {
      await git(this.#folder, [...CAREFUL, 'submodule', '--quiet', 'update', '--init', '--recursive', '--no-fetch'], {
        refusal: 'git cannot check out the restored submodules.',
        exitCode: damaged,
        env: lfs,
      });
    }
    return { refs: refs.length, flaws };
  }

  #keepLfs(sha256: string, file: string): void {
    const place = join(this.#gitFolder, lfsPath(sha256));
    mkdirSync(dirname(place), { recursive: true });
    renameSync(file, place);
  }
}

/** Creates an empty repository without hooks and templates. */
async function initRepository(folder: string): Promise<void> {
  await git(folder, ['init', '--quiet', '--template=', '.'], { refusal: `git init failed in ${folder}.` });
}

/** Counts the files of a commit before they are checked out: a small archive can hold a huge file. */
async function requireRoom(folder: string, commit: string, budget: RestoreBudget): Promise<void> {
  await eachLine('git', ['-C', folder, 'ls-tree', '-r', '-l', '-z', commit], '\0', (line) => {
    const size = Number(/^\d+ \w+ [0-9a-f]+ +(\d+)\t/.exec(line)?.[1] ?? 0);
    budget.takeFiles(1);
    budget.takeBytes(size);
  });
}

async function checkOutLfs(folder: string): Promise<void> {
  const refusal = 'this backup has Git LFS objects; install git-lfs to check them out.';
  await git(folder, ['lfs', 'install', '--local', '--skip-repo'], { refusal });
  await git(folder, ['lfs', 'checkout'], { refusal });
}
