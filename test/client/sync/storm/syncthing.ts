/** Syncthing as a yardstick: nodes of one folder on this machine, which speak to each other over the loopback alone. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

export interface SyncthingNode {
  readonly folder: string;
  start(): void;
  kill(): Promise<void>;
}

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
export function syncthingNodes(count: number): SyncthingNode[] {
  const firstPort = 20_000 + Math.floor(Math.random() * 9000);
  const identities = Array.from({ length: count }, (_, at): Identity => {
    const [home, folder] = [temporaryFolder(), temporaryFolder()];
    execFileSync('syncthing', ['generate', `--home=${home}`, '--no-default-folder'], { stdio: 'ignore' });
    const id = execFileSync('syncthing', [`--home=${home}`, '--device-id'], { encoding: 'utf8' }).trim();
    mkdirSync(join(folder, '.stfolder'));
    return { id, home, folder, port: firstPort + 2 * at };
  });
  return identities.map((own) => {
    writeFileSync(join(own.home, 'config.xml'), configOf(own, identities));
    return nodeOf(own);
  });
}

function nodeOf({ home, folder }: Identity): SyncthingNode {
  let running: ChildProcess | undefined;
  return {
    folder,
    start() {
      const args = ['serve', `--home=${home}`, '--no-browser', '--no-restart', '--no-upgrade'];
      running = spawn('syncthing', args, { stdio: 'ignore', env: { ...process.env, STNODEFAULTFOLDER: '1' } });
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

/** As quick as its settings allow: a change is sent after a second, and every minute all is looked at. */
function configOf(own: Identity, all: readonly Identity[]): string {
  const members = all.map(({ id }) => `<device id="${id}"/>`).join('');
  const devices = all
    .map(({ id, port }) => `<device id="${id}" compression="never"><address>tcp://127.0.0.1:${port}</address></device>`)
    .join('');
  return `<configuration version="36">
<folder id="storm" path="${own.folder}" type="sendreceive" rescanIntervalS="60" fsWatcherEnabled="true" fsWatcherDelayS="1">
${members}<minDiskFree unit="%">0</minDiskFree><maxConflicts>-1</maxConflicts>
<versioning type="simple"><param key="keep" val="1000"/><param key="cleanoutDays" val="0"/></versioning></folder>
${devices}
<gui enabled="true" tls="false"><address>127.0.0.1:${own.port + 1}</address><apikey>yardstick</apikey></gui>
<options><listenAddress>tcp://127.0.0.1:${own.port}</listenAddress><globalAnnounceEnabled>false</globalAnnounceEnabled>
<localAnnounceEnabled>false</localAnnounceEnabled><relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled>
<urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH><reconnectionIntervalS>2</reconnectionIntervalS>
<crashReportingEnabled>false</crashReportingEnabled><startBrowser>false</startBrowser></options>
</configuration>
`;
}
