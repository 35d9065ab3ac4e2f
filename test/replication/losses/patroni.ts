/** Two PostgreSQL servers under Patroni in synchronous mode, and the etcd that they agree through: all on loopback. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, untilListening } from '../../support/free-port.ts';
import { postgresPrograms } from '../../support/postgres-server.ts';
import { endWithRun, removeWithRun } from '../../support/run-wide.ts';

const SECONDS_MAX = 180;
/** Patroni calls a leader lost after so many seconds. */
const TTL_SECONDS = 6;

interface Node {
  readonly name: string;
  readonly port: number;
  readonly api: number;
  readonly folder: string;
  patroni: ChildProcess;
}

/** As Patroni tells it: `primary`, `sync_standby`, `replica` and others; undefined: it does not answer. */
type Role = string | undefined;

export class PatroniCluster {
  readonly #nodes: Node[] = [];
  readonly #etcd: ChildProcess;
  readonly #folder: string;
  readonly #isStrict: boolean;

  private constructor(folder: string, etcd: ChildProcess, isStrict: boolean) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.#isStrict = isStrict;
  }

  /** @param isStrict whether commits wait while there is no standby, as the manual asks for */
  static async start(isStrict = true): Promise<PatroniCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-patroni-'));
    removeWithRun(folder);
    giveToServer(folder);
    const [client, peer] = [await findFreePort(), await findFreePort()];
    const url = (port: number) => `http://127.0.0.1:${port}`;
    const etcd = run(folder, 'etcd', [
      '--data-dir',
      join(folder, 'etcd'),
      '--listen-client-urls',
      url(client),
      '--advertise-client-urls',
      url(client),
      '--listen-peer-urls',
      url(peer),
      '--initial-advertise-peer-urls',
      url(peer),
      '--initial-cluster',
      `default=${url(peer)}`,
      '--unsafe-no-fsync',
    ]);
    await untilListening(client);
    const cluster = new PatroniCluster(folder, etcd, isStrict);
    for (const name of ['one', 'two']) await cluster.#add(name, client);
    await cluster.untilInSync();
    return cluster;
  }

  /** Names both servers: a client finds the primary. */
  get url(): string {
    return `postgres://cairn@${this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`;
  }

  /** Waits until one server is the primary and the other its synchronous standby. */
  async untilInSync(): Promise<void> {
    await this.#until(
      'in sync',
      ([one, other]) => new Set([one, other, 'primary', 'sync_standby']).size === 2 && one !== other,
    );
  }

  /** Kills everything of the server with a role, as a machine that loses its power does. Gives what starts it again. */
  async kill(role: string): Promise<() => void> {
    const node = await this.#nodeOf(role);
    for (const pid of processesOf(node)) signal(pid, 'SIGKILL');
    return () => {
      node.patroni = startPatroni(node);
    };
  }

  /** Kills Patroni alone: its server goes on, and knows nothing of the next primary. Gives what starts Patroni again. */
  async abandon(role: string): Promise<() => void> {
    const node = await this.#nodeOf(role);
    node.patroni.kill('SIGKILL');
    return () => {
      node.patroni = startPatroni(node);
    };
  }

  /** Stops everything of the server with a role. Gives what lets it go on. */
  async pause(role: string): Promise<() => void> {
    const node = await this.#nodeOf(role);
    const processes = processesOf(node);
    for (const pid of processes) signal(pid, 'SIGSTOP');
    return () => {
      for (const pid of processes) signal(pid, 'SIGCONT');
    };
  }

  /** Cancels the wait of each commit that waits for the standby. Returns their number. */
  async cancelWaits(): Promise<number> {
    const { port, folder } = await this.#nodeOf('primary');
    const text = "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'";
    const psql = ['-XAtq', '-h', '127.0.0.1', '-p', String(port), '-U', 'cairn', '-d', 'postgres', '-c', text];
    return Number(execFileSync('psql', psql, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] }));
  }

  /** Waits until the server that had a role has lost it to the other. */
  async untilMoved(before: number): Promise<void> {
    await this.#until('moved', (roles) => roles.some((role, index) => role === 'primary' && index !== before));
  }

  async indexOf(role: string): Promise<number> {
    return this.#nodes.indexOf(await this.#nodeOf(role));
  }

  close(): void {
    for (const node of this.#nodes) for (const pid of processesOf(node)) signal(pid, 'SIGKILL');
    this.#etcd.kill('SIGKILL');
  }

  async #add(name: string, etcd: number): Promise<void> {
    const folder = join(this.#folder, name);
    mkdirSync(folder, { mode: 0o700 });
    giveToServer(folder);
    const [port, api] = [await findFreePort(), await findFreePort()];
    writeFileSync(
      join(folder, 'patroni.json'),
      JSON.stringify(configuration(name, folder, port, api, etcd, this.#isStrict)),
    );
    const node = { name, port, api, folder };
    this.#nodes.push({ ...node, patroni: startPatroni(node) });
    await this.#until(`${name} runs`, (roles) => roles.every((role) => role !== undefined));
  }

  async #nodeOf(role: string): Promise<Node> {
    const roles = await this.#until(`there is a ${role}`, (all) => all.includes(role));
    return this.#nodes[roles.indexOf(role)] as Node;
  }

  async #until(what: string, accepts: (roles: readonly Role[]) => boolean): Promise<readonly Role[]> {
    for (const endMs = Date.now() + SECONDS_MAX * 1000; ; await sleep(200)) {
      const roles = await Promise.all(this.#nodes.map(roleOf));
      if (accepts(roles)) return roles;
      if (Date.now() > endMs) throw new Error(`Patroni: not ${what}: ${roles.join(', ')}`);
    }
  }
}

async function roleOf({ api }: Node): Promise<Role> {
  try {
    const answer = await fetch(`http://127.0.0.1:${api}/patroni`, { signal: AbortSignal.timeout(2000) });
    const { state, role, sync_standby: isSync } = (await answer.json()) as Record<string, unknown>;
    if (state !== 'running') return undefined;
    return role === 'master' ? 'primary' : isSync === true ? 'sync_standby' : String(role);
  } catch {
    // It is killed, stopped, or not there yet.
    return undefined;
  }
}

const startPatroni = ({ folder }: Pick<Node, 'folder'>): ChildProcess =>
  run(folder, 'patroni', [join(folder, 'patroni.json')]);

/** Patroni reads YAML, and JSON is YAML. */
const configuration = (name: string, folder: string, port: number, api: number, etcd: number, isStrict: boolean) => ({
  scope: 'cairn',
  name,
  restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
  etcd3: { hosts: [`127.0.0.1:${etcd}`] },
  bootstrap: {
    dcs: {
      ttl: TTL_SECONDS,
      loop_wait: 1,
      retry_timeout: 2,
      synchronous_mode: true,
      synchronous_mode_strict: isStrict,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 50, wal_log_hints: 'on' } },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }, 'no-sync'],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    data_dir: join(folder, 'data'),
    bin_dir: postgresPrograms,
    pgpass: join(folder, 'pgpass'),
    pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust', 'local all all trust'],
    authentication: { superuser: { username: 'cairn' }, replication: { username: 'cairn' } },
    parameters: { unix_socket_directories: folder },
  },
});

/** Patroni and its server, with all children: the server stands in a group of its own. */
function processesOf({ folder, patroni }: Pick<Node, 'folder' | 'patroni'>): number[] {
  const file = join(folder, 'data', 'postmaster.pid');
  const [server = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // The file outlives a server that was killed, and its number may be another process by now.
  const isServer = server !== '' && readProcess(Number(server), 'cmdline').includes(folder);
  const roots = [hasEnded(patroni) ? undefined : patroni.pid, isServer ? Number(server) : undefined];
  return roots.flatMap((pid) => (pid === undefined ? [] : [pid, ...childrenOf(pid)]));
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

function childrenOf(pid: number): number[] {
  const own = readProcess(pid, `task/${pid}/children`).trim().split(' ').filter(Boolean);
  return own.flatMap((child) => [Number(child), ...childrenOf(Number(child))]);
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** PostgreSQL refuses to run as root. */
const isRoot = process.getuid?.() === 0;

function giveToServer(folder: string): void {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString());
  if (isRoot) chownSync(folder, id('-u'), id('-g'));
}

function run(folder: string, program: string, args: readonly string[]): ChildProcess {
  const out = openSync(join(folder, `${program}.out`), 'a');
  const user = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];
  const [command, all] = isRoot ? ['setpriv', [...user, program, ...args]] : [program, [...args]];
  const child = spawn(command, all, { cwd: folder, detached: true, stdio: ['ignore', out, out] });
  if (child.pid !== undefined) endWithRun(child.pid);
  return child;
}
