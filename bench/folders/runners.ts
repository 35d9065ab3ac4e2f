/** Two folders that a program makes alike each time it runs: Unison and `rclone bisync`, both between folders of this machine. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import type { Pair } from '../felt/machines.ts';
import type { Spent } from '../felt/spent.ts';
import { requireTool, startProgram } from '../peers/child.ts';

/** Of what getrusage(2) counts as blocks that were written. */
const BLOCK_BYTES = 512;

interface Runner {
  readonly name: string;
  readonly debianPackage: string;
  /** `isFirst`: the folders have not been alike before. `own`: a folder for what the program keeps. */
  readonly command: (folders: readonly [string, string], isFirst: boolean, own: string) => readonly string[];
  readonly env: (own: string) => Readonly<Record<string, string>>;
  /** Exit codes of a pass that went as it should. */
  readonly right: readonly number[];
}

export interface RunnerPair extends Pair {
  /** What the last pass said. */
  said(): string;
}

/** As its manual has it for scripts: nothing is asked, and what both changed is left as it is. */
const UNISON: Runner = {
  name: 'Unison',
  debianPackage: 'unison',
  command: (folders) => ['unison', ...folders, '-batch', '-ui=text'],
  env: (own) => ({ UNISON: own, HOME: own }),
  // 1: some files were left.
  right: [0, 1],
};

const BISYNC: Runner = {
  name: 'rclone bisync',
  debianPackage: 'rclone',
  command(folders, isFirst, own) {
    const command = ['rclone', 'bisync', ...folders, '--workdir', own];
    return isFirst ? [...command, '--resync'] : command;
  },
  env: (own) => ({ RCLONE_CONFIG: join(own, 'rclone.conf'), HOME: own }),
  right: [0],
};

export const unisonPair = () => runnerPair(UNISON);
export const bisyncPair = () => runnerPair(BISYNC);

/** Throws MissingTool without the program, or without GNU time, which tells what it used. */
function runnerPair({ name, debianPackage, command, env, right }: Runner): RunnerPair {
  const program = command(['', ''], true, '')[0] ?? '';
  requireTool(program, debianPackage);
  requireTool('/usr/bin/time', 'time');
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const own = temporaryFolder();
  let timeId: number | undefined;
  let isFirst = true;
  let said = '';
  let spent: Spent = { cpuSeconds: 0, writtenBytes: 0 };
  async function pass(): Promise<void> {
    const log = join(own, 'time');
    const args = ['-q', '-o', log, '-f', '%U %S %O', ...command(folders, isFirst, own)];
    const child = startProgram('/usr/bin/time', args, {
      env: { ...process.env, ...env(own) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    timeId = child.pid;
    isFirst = false;
    said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const [code] = (await once(child, 'close')) as [number | null];
    timeId = undefined;
    if (!right.includes(code ?? -1)) throw new Error(`${name} ended with ${code}: ${said.slice(-1000)}`);
    const [user = 0, system = 0, blocks = 0] = readFileSync(log, 'utf8').split(' ').map(Number);
    spent = {
      cpuSeconds: spent.cpuSeconds + user + system,
      writtenBytes: spent.writtenBytes + blocks * BLOCK_BYTES,
    };
  }
  return {
    folders,
    startEmpty: () => Promise.resolve(),
    stopEmpty: () => Promise.resolve(),
    startFull: pass,
    pass,
    processes() {
      const pid = timeId === undefined ? undefined : childOf(timeId);
      return pid === undefined ? {} : { [name]: pid };
    },
    spent: () => ({ [name]: spent }),
    said: () => said,
    stop: () => Promise.resolve(),
  };
}

/** The program that GNU time runs. Undefined when it has not begun or has ended. */
function childOf(timeId: number): number | undefined {
  try {
    const [pid] = readFileSync(`/proc/${timeId}/task/${timeId}/children`, 'utf8').trim().split(' ');
    return pid === undefined || pid === '' ? undefined : Number(pid);
  } catch {
    return undefined;
  }
}
