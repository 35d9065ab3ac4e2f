/**
 * What keeps the watch of all listed folders running on each system: a user unit of systemd, an agent of launchd, a task of Windows.
 * Pure: the files and the calls are values, which `install.ts` writes and makes.
 */
import { join } from 'node:path';
import { unitWord } from '../../../text/unit-word.ts';

/** A program with its arguments. */
export interface Call {
  readonly program: string;
  readonly args: readonly string[];
  /** It may fail, as when there is nothing to stop. */
  readonly mayFail?: true;
}

export interface Supervisor {
  readonly name: 'systemd' | 'launchd' | 'Task Scheduler';
  /** Absolute path of what is written, and its text. */
  readonly file: string;
  readonly text: string;
  readonly encoding: 'utf8' | 'utf16le';
  /** After the file is written: from then on it runs now, and at each sign-in. */
  readonly starts: readonly Call[];
  readonly stops: readonly Call[];
  /** After the file is removed. */
  readonly forgets: readonly Call[];
  /** Succeeds while the service is active. */
  readonly asks: Call;
  /** The command that shows what it says. */
  readonly log: string;
}

export interface Supervised {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The folder of settings of this user: XDG_CONFIG_HOME, else `~/.config`. */
  readonly configFolder: string;
  /** The numeric id of the user; -1 on Windows, which has none. */
  readonly uid: number;
  /** The program and its first arguments, as absolute paths; `sync watch --all` is appended. */
  readonly command: readonly string[];
  /** Variables that the watch needs to find its sign-ins. */
  readonly environment: Readonly<Record<string, string>>;
}

const WATCH = ['sync', 'watch', '--all'];
const UNIT = 'cairn-sync.service';
const LABEL = 'org.cairn.sync';
const TASK = 'Cairn folder sync';
/** Seconds until a watch that ended with an error is started again. */
const RESTART_SECONDS = 60;

/** The supervisor of a system; undefined on one without a known one. */
export function supervisorOf(supervised: Supervised): Supervisor | undefined {
  switch (supervised.platform) {
    case 'linux':
      return systemd(supervised);
    case 'darwin':
      return launchd(supervised);
    case 'win32':
      return taskScheduler(supervised);
    default:
      return undefined;
  }
}

function systemd({ configFolder, command, environment }: Supervised): Supervisor {
  const ask = (...args: string[]): Call => ({ program: 'systemctl', args: ['--user', ...args] });
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}\n`);
  return {
    name: 'systemd',
    file: join(configFolder, 'systemd', 'user', UNIT),
    encoding: 'utf8',
    text: `[Unit]
Description=Cairn folder sync

[Service]
ExecStart=${[...command, ...WATCH].map(unitWord).join(' ')}
${variables.join('')}Restart=on-failure
RestartSec=${RESTART_SECONDS}
# Wrong options: starting it again does not mend them.
RestartPreventExitStatus=2

[Install]
WantedBy=default.target
`,
    starts: [ask('daemon-reload'), ask('enable', UNIT), ask('restart', UNIT)],
    stops: [ask('disable', '--now', UNIT)],
    forgets: [ask('daemon-reload')],
    asks: ask('is-active', '--quiet', UNIT),
    log: `journalctl --user -u ${UNIT}`,
  };
}

function launchd({ home, uid, command, environment }: Supervised): Supervisor {
  const file = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);
  const log = join(home, 'Library', 'Logs', 'cairn-sync.log');
  const domain = `gui/${uid}`;
  const words = [...command, ...WATCH].map((word) => `    <string>${inXml(word)}</string>\n`);
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${inXml(name)}</key><string>${inXml(value)}</string>\n`,
  );
  const bootout: Call = { program: 'launchctl', args: ['bootout', `${domain}/${LABEL}`], mayFail: true };
  return {
    name: 'launchd',
    file,
    encoding: 'utf8',
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('')}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>${RESTART_SECONDS}</integer>
  <key>StandardOutPath</key><string>${inXml(log)}</string>
  <key>StandardErrorPath</key><string>${inXml(log)}</string>
</dict>
</plist>
`,
    starts: [bootout, { program: 'launchctl', args: ['bootstrap', domain, file] }],
    stops: [bootout],
    forgets: [],
    asks: { program: 'launchctl', args: ['print', `${domain}/${LABEL}`] },
    log: `tail -f ${log}`,
  };
}

/** A task of the user: without a password, so it runs while the user is signed in (Task Scheduler schema 1.2). */
function taskScheduler({ configFolder, command, environment }: Supervised): Supervisor {
  const [program = '', ...args] = [...command, ...WATCH];
  const file = join(configFolder, 'cairn', 'sync-task.xml');
  const ask = (...words: string[]): Call => ({ program: 'schtasks', args: [...words, '/TN', TASK] });
  // A task has no variables of its own; what it needs is in those of the user.
  const needs = Object.keys(environment).join(', ');
  return {
    name: 'Task Scheduler',
    file,
    encoding: 'utf16le',
    text: `\ufeff<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>${inXml(needs === '' ? TASK : `${TASK}; needs ${needs}`)}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT${RESTART_SECONDS}S</Interval><Count>999</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${inXml(program)}</Command>
      <Arguments>${inXml(args.map(windowsWord).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`,
    starts: [ask('/Create', '/F', '/XML', file), ask('/Run')],
    stops: [
      { ...ask('/End'), mayFail: true },
      { ...ask('/Delete', '/F'), mayFail: true },
    ],
    forgets: [],
    asks: ask('/Query'),
    log: `schtasks /Query /V /FO LIST /TN "${TASK}"`,
  };
}

const inXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A word of a command line on Windows; a path there has no quotes, and none of these ends with a backslash. */
const windowsWord = (word: string): string => (/[\s"]/.test(word) ? `"${word}"` : word);
