/** Syncthing as a yardstick: nodes of one folder on this machine, which speak to each other over the loopback alone. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

export interface SyncthingNode {
  readonly folder: string;
  /** Gives the id of the process. */
  start(): number;
  /** Whether it answers on its own address. */
  isUp(): Promise<boolean>;
  /** Sets for how many seconds it gathers changes before it sends them. */
  gather(seconds: number): Promise<void>;
  kill(): Promise<void>;
}

/** Seconds. */
export interface SyncthingPace {
  /** It gathers changes for so long before it sends them. */
  readonly gather: number;
  /** So often it looks at every file. */
  readonly rescan: number;
}

/** As quick as its settings allow (it reads whole seconds). */
export const QUICKEST: SyncthingPace = { gather: 1, rescan: 60 };
/** As it is installed. */
export const AS_INSTALLED: SyncthingPace = { gather: 10, rescan: 3600 };

const API_KEY = 'yardstick';

interface Identity {
  readonly id: string;
  readonly home: string;
  readonly folder: string;
  readonly port: number;
}

/** The version of the program that is installed (Debian: syncthing); undefined: none is. */
export function syncthingVersion(): string | undefined {
  try {
    return execFileSync('syncthing', ['--version'], { encoding: 'utf8' }).split(' ').slice(0, 2).join(' ');
  } catch {
    return undefined;
  }
}

/** Makes nodes that know each other. Each keeps every replaced file as a version and every conflict as a copy. */
export function syncthingNodes(count: number, pace = QUICKEST): SyncthingNode[] {
  const firstPort = 20_000 + Math.floor(Math.random() * 9000);
  const identities = Array.from({ length: count }, (_, at): Identity => {
    const [home, folder] = [temporaryFolder(), temporaryFolder()];
    execFileSync('syncthing', ['generate', `--home=${home}`, '--no-default-folder'], { stdio: 'ignore' });
    const id = execFileSync('syncthing', [`--home=${home}`, '--device-id'], { encoding: 'utf8' }).trim();
    mkdirSync(join(folder, '.stfolder'));
    return { id, home, folder, port: firstPort + 2 * at };
  });
  return identities.map((own) => {
    writeFileSync(join(own.home, 'config.xml'), configOf(own, identities, pace));
    return nodeOf(own);
  });
}

function nodeOf({ home, folder, port }: Identity): SyncthingNode {
  let running: ChildProcess | undefined;
  const ask = (path: string, how: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port + 1}/rest/${path}`, { ...how, headers: { 'X-API-Key': API_KEY } });
  return {
    folder,
    start() {
      const args = ['serve', `--home=${home}`, '--no-browser', '--no-restart', '--no-upgrade'];
      // As its own monitor starts it: one process, which a kill meets and whose processor time is all.
      const env = { ...process.env, STNODEFAULTFOLDER: '1', STMONITORED: 'yes' };
      running = spawn('syncthing', args, { stdio: 'ignore', env });
      return running.pid ?? 0;
    },
    isUp: () =>
      ask('system/ping').then(
        ({ ok }) => ok,
        () => false,
      ),
    async gather(seconds) {
      const body = JSON.stringify({ fsWatcherDelayS: seconds });
      const { status } = await ask('config/folders/storm', { method: 'PATCH', body });
      if (status !== 200) throw new Error(`Syncthing answered ${status}`);
    },
    async kill() {
      const child = running;
      running = undefined;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function configOf(own: Identity, all: readonly Identity[], { gather, rescan }: SyncthingPace): string {
  const members = all.map(({ id }) => `<device id="${id}"/>`).join('');
  const devices = all
    .map(({ id, port }) => `<device id="${id}" compression="never"><address>tcp://127.0.0.1:${port}</address></device>`)
    .join('');
  return `<configuration version="36">
<folder id="storm" path="${own.folder}" type="sendreceive" rescanIntervalS="${rescan}" fsWatcherEnabled="true" fsWatcherDelayS="${gather}">
${members}<minDiskFree unit="%">0</minDiskFree><maxConflicts>-1</maxConflicts>
<versioning type="simple"><param key="keep" val="1000"/><param key="cleanoutDays" val="0"/></versioning></folder>
${devices}
<gui enabled="true" tls="false"><address>127.0.0.1:${own.port + 1}</address><apikey>${API_KEY}</apikey></gui>
<options><listenAddress>tcp://127.0.0.1:${own.port}</listenAddress><globalAnnounceEnabled>false</globalAnnounceEnabled>
<localAnnounceEnabled>false</localAnnounceEnabled><relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled>
<urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH><reconnectionIntervalS>2</reconnectionIntervalS>
<crashReportingEnabled>false</crashReportingEnabled><startBrowser>false</startBrowser></options>
</configuration>
`;
}
