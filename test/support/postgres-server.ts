/** PostgreSQL servers for tests, on loopback, in folders of the run, as the user that Debian made for them. */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { findFreePort, untilListening } from './free-port.ts';
import { endWithRun, removeWithRun } from './run-wide.ts';

/** The folder of the server's programs, of the newest version; undefined: not installed. */
export const postgresPrograms = findPrograms();

function findPrograms(): string | undefined {
  try {
    const [newest] = readdirSync('/usr/lib/postgresql').toSorted((a, b) => Number(b) - Number(a));
    const folder = `/usr/lib/postgresql/${newest}/bin`;
    return readdirSync(folder).includes('initdb') ? folder : undefined;
  } catch {
    return undefined;
  }
}

export interface PostgresServer {
  readonly port: number;
  readonly folder: string;
  readonly url: string;
  /** Kills all processes of the server at once, as a machine that loses its power does. */
  kill(): void;
  /** Runs SQL and returns what psql prints. */
  sql(text: string): string;
}

/** The server refuses to run as root. */
const isRoot = userInfo().uid === 0;
const asServer = (program: string, args: readonly string[]): [string, string[]] => {
  const path = join(postgresPrograms ?? '', program);
  return isRoot
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, [...args]];
};

/** Makes a folder that the server's user owns. */
function serverFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-postgres-'));
  removeWithRun(folder);
  if (isRoot) {
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString());
    chownSync(folder, id('-u'), id('-g'));
  }
  return folder;
}

/** Starts a primary. With `standbyOf`, a standby that follows it under the name `standby`. */
export async function startPostgres(standbyOf?: PostgresServer): Promise<PostgresServer> {
  const folder = serverFolder();
  const [port, data] = [await findFreePort(), join(folder, 'data')];
  const tool = (program: string, ...args: string[]) => {
    const [command, all] = asServer(program, args);
    return execFileSync(command, all, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  };
  if (standbyOf === undefined) {
    tool('initdb', '-D', data, '-U', 'cairn', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C');
  } else {
    const source = `host=127.0.0.1 port=${standbyOf.port} user=cairn application_name=standby`;
    tool('pg_basebackup', '-D', data, '-R', '--checkpoint=fast', '-d', source);
  }
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'max_connections=200',
  ];
  const out = openSync(join(folder, 'out'), 'a');
  const [command, args] = asServer('postgres', ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]);
  const { pid } = spawn(command, args, { cwd: folder, detached: true, stdio: ['ignore', out, out] });
  if (pid === undefined) throw new Error('the server did not start');
  endWithRun(pid);
  await untilListening(port);
  const sql = (text: string) =>
    tool('psql', '-XAtq', '-h', '127.0.0.1', '-p', String(port), '-U', 'cairn', '-d', 'postgres', '-c', text);
  for (let tried = 0; ; tried += 1) {
    try {
      sql('select 1');
      break;
    } catch (error) {
      if (tried > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const kill = () => {
    // Those of its connections are in groups of their own, and would answer a little longer. The file names the
    // server itself, whichever program started it.
    const [server = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    const own = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim().split(' ').filter(Boolean);
    for (const one of [server, ...own]) process.kill(Number(one), 'SIGKILL');
  };
  return { port, folder, kill, sql, url: `postgres://cairn@127.0.0.1:${port}/postgres` };
}
