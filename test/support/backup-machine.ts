/** Machines that back up repositories with the command, and repositories to back up. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandResult, type Hub, runCairn } from './hub.ts';
import type { Account } from './mirror.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface BackupMachine {
  /** The folder of the machine's configuration. */
  readonly config: string;
  /** The settings of its commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `cairn backups …`. */
  readonly cairn: (...args: string[]) => Promise<CommandResult>;
  /** Runs `cairn backups …` in a folder. */
  readonly cairnIn: (folder: string, ...args: string[]) => Promise<CommandResult>;
}

/** A machine with an empty configuration and the key of an account. */
export function backupMachine(
  hub: Pick<Hub, 'url'>,
  who: Account,
  env: Record<string, string> = {},
  script?: string,
): BackupMachine {
  const config = temporaryFolder();
  const settings = { XDG_CONFIG_HOME: config, CAIRN_SERVER: hub.url, CAIRN_KEY: who.mcp_key, ...env };
  const inFolder = (folder: string, args: readonly string[]) =>
    runCairn(['backups', ...args], settings, '', ['env', '-C', folder], script);
  const outside = temporaryFolder();
  return {
    config,
    env: settings,
    cairn: (...args) => inFolder(outside, args),
    cairnIn: inFolderOf(inFolder),
  };
}

const inFolderOf =
  (run: (folder: string, args: readonly string[]) => Promise<CommandResult>) =>
  (folder: string, ...args: string[]) =>
    run(folder, args);

/** Runs git as a test author. */
export function gitIn(folder: string, ...args: string[]): string {
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', ['-C', folder, ...author, ...args], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

export interface TestRepository {
  readonly folder: string;
  /** The first commit. */
  readonly commit: string;
}

/** A repository of one commit in a folder of this name; `bytes` of it do not compress. */
export function testRepository(bytes: number, name = 'certificates'): TestRepository {
  const folder = join(temporaryFolder(), name);
  mkdirSync(join(folder, 'live', 'empty name'), { recursive: true });
  gitIn(folder, 'init', '--quiet', '--initial-branch=main');
  const files = 40;
  for (let i = 0; i < files; i += 1) writeFileSync(join(folder, 'live', `${i}.pem`), randomBytes(bytes / files));
  writeFileSync(join(folder, 'live', 'empty name', 'ünïcode.txt'), 'naïve\n');
  writeFileSync(join(folder, 'renew.sh'), '#!/bin/sh\n', { mode: 0o755 });
  gitIn(folder, 'add', '--all');
  gitIn(folder, 'commit', '--quiet', '--message', 'certificates');
  return { folder, commit: gitIn(folder, 'rev-parse', 'HEAD') };
}

/** Commits one changed file. Returns the commit. */
export function commitFile(folder: string, name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  gitIn(folder, 'add', '--all');
  gitIn(folder, 'commit', '--quiet', '--message', name);
  return gitIn(folder, 'rev-parse', 'HEAD');
}

/** Every file below a folder, by path, with the hash of its bytes; git's own folder is left out. */
export function contentsOf(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\/\.git(\/|$)/.test(join(entry.parentPath, entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    found.map((file) => [file.slice(folder.length), createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}

/** Every ref with its object, and what HEAD is. */
export function refsOf(folder: string): string {
  return `${gitIn(folder, 'for-each-ref', '--format=%(objectname) %(refname) %(symref)')}\n${gitIn(folder, 'rev-parse', 'HEAD')}`;
}

export const modeOf = (...path: string[]): number => statSync(join(...path)).mode & 0o777;
