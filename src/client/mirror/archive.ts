/** Packs the tree of one commit as a gzipped tar with git, and unpacks such an archive with tar. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { checkTar } from './tar-check.ts';

/**
 * The commit of HEAD, 40 lower-case hex digits. Throws ClientError when the folder is not a repository with commits.
 */
export async function headCommit(repository: string): Promise<string> {
  const { stdout } = await run('git', ['-C', repository, 'rev-parse', '--verify', 'HEAD^{commit}'], {
    refusal: `${repository} is not a git repository with a commit; name one with --repository.`,
  });
  const commit = stdout.toString('latin1').trim();
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new ClientError(`${repository} is a SHA-256 repository. The mirror supports SHA-1 repositories only.`);
  }
  return commit;
}

/** True when tracked files differ from HEAD. An archive of HEAD does not contain those changes. */
export async function hasUncommitted(repository: string): Promise<boolean> {
  const { stdout } = await run('git', ['-C', repository, 'status', '--porcelain', '--untracked-files=no'], {
    refusal: `git status failed in ${repository}.`,
  });
  return stdout.length > 0;
}

/** The tree of a commit as tar.gz. git records the commit id in it. */
export async function packCommit(repository: string, commit: string): Promise<Buffer> {
  const { stdout } = await run('git', ['-C', repository, 'archive', '--format=tar.gz', commit], {
    refusal: `git archive failed in ${repository}; run it by hand to see why.`,
  });
  return stdout;
}

/**
 * Unpacks a tar.gz into a new or empty folder, without owners and special modes, after checking that no entry leads out
 * of the folder. Throws ClientError when the folder is not empty or the archive is damaged.
 */
export async function unpack(archive: Buffer, folder: string): Promise<void> {
  refuseFilled(folder);
  checkTar(gunzipSync(archive, { maxOutputLength: limits.unpackedBytesMax }));
  mkdirSync(folder, { recursive: true });
  await run('tar', ['--no-same-owner', '--no-same-permissions', '-xzf', '-', '-C', folder], {
    input: archive,
    refusal: `tar cannot unpack this archive into ${folder}.`,
  });
}

/** Throws ClientError unless the folder is missing or empty: a restore overwrites nothing. */
export function refuseFilled(folder: string): void {
  let entries: string[];
  try {
    entries = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new ClientError(`${folder} is not a folder that can be read; name another with --output.`);
  }
  if (entries.length > 0) throw new ClientError(`${folder} is not empty; name a new folder with --output.`);
}

/**
 * The commit id recorded by git in a tar.gz: the comment of the global extended header at the beginning (POSIX pax,
 * `git get-tar-commit-id`). Undefined when there is no such comment. Throws ClientError when it is not a tar.gz.
 */
export function commitOf(archive: Buffer): string | undefined {
  let tar: Buffer;
  try {
    tar = gunzipSync(archive);
  } catch {
    throw new ClientError('the decrypted archive is not a tar.gz file. Download it with --encrypted to examine it.');
  }
  const isGlobalHeader = tar.length > 1024 && tar[156] === 'g'.charCodeAt(0);
  if (!isGlobalHeader) return undefined;
  return /^\d+ comment=([0-9a-f]{40})\n/.exec(tar.toString('latin1', 512, 1024))?.[1];
}

interface Run {
  readonly input?: Buffer;
  /** Error message when the program fails. */
  readonly refusal: string;
}

function run(program: string, args: readonly string[], { input, refusal }: Run): Promise<{ readonly stdout: Buffer }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    let told = '';
    child.stdout.on('data', (part: Buffer) => out.push(part));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      told = (told + text).slice(0, 500);
    });
    // A program that exits early closes its input; its exit code shows the reason.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', () => reject(new ClientError(`program not found: ${program}. Install it, then try again.`)));
    child.once('close', (code) => {
      if (code === 0) resolve({ stdout: Buffer.concat(out) });
      else reject(new ClientError(told.trim() === '' ? refusal : `${refusal} (${told.trim().split('\n')[0] ?? ''})`));
    });
  });
}
