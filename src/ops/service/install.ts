/** Installs the hub as a systemd service of this machine, and removes it. Data and settings are always kept. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { SETTINGS_FILE, settingsText, UNIT_NAME, type UnitOptions, unitText } from './unit.ts';

const UNIT_FOLDER = '/etc/systemd/system';
/** Exists only if systemd is the init process (sd_booted(3)). */
const SYSTEMD_RUNS = '/run/systemd/system';
/** Folders hidden from the service by the unit (ProtectHome). */
const HIDDEN = ['/home/', '/root/', '/run/user/'];

export interface InstallOptions extends UnitOptions {
  /** An alternative root: files are written below it, and nothing is started. Undefined: `/`. */
  readonly root: string | undefined;
}

export interface Installed {
  readonly unit: string;
  readonly settings: string;
  readonly user: string;
  readonly isStarted: boolean;
}

/**
 * Creates the user, writes the unit and starts it. Running it again replaces the unit and restarts the service.
 * @throws StartError with a solution: without systemd or permission, or when the service could not read its program
 */
export function installService(options: InstallOptions): Installed {
  const { root, user, command } = options;
  const hidden = command.find((path) => HIDDEN.some((folder) => path.startsWith(folder)));
  if (hidden !== undefined) {
    throw new StartError(
      `the service cannot read ${hidden}: home folders are hidden from it. Install Node.js and cairn for all users ` +
        '(sudo npm install -g), then run `cairn service install` again.',
    );
  }
  if (root === undefined) needSystemd();
  const unit = join(root ?? '/', UNIT_FOLDER, UNIT_NAME);
  const settings = join(root ?? '/', SETTINGS_FILE);
  asRoot(() => {
    addUser(user, root);
    mkdirSync(dirname(unit), { recursive: true });
    writeFileSync(unit, unitText(options), { mode: 0o644 });
    if (!existsSync(settings)) writeFileSync(settings, settingsText, { mode: 0o600 });
  });
  if (root === undefined) {
    run('systemctl', ['daemon-reload']);
    run('systemctl', ['enable', UNIT_NAME]);
    run('systemctl', ['restart', UNIT_NAME]);
  }
  return { unit, settings, user, isStarted: root === undefined };
}

/** Stops the service and removes its unit. Returns false when it was not installed. */
export function removeService(root: string | undefined): boolean {
  const unit = join(root ?? '/', UNIT_FOLDER, UNIT_NAME);
  if (root === undefined) needSystemd();
  if (!existsSync(unit)) return false;
  if (root === undefined) run('systemctl', ['disable', '--now', UNIT_NAME]);
  asRoot(() => rmSync(unit));
  if (root === undefined) run('systemctl', ['daemon-reload']);
  return true;
}

function needSystemd(): void {
  if (existsSync(SYSTEMD_RUNS)) return;
  throw new StartError(
    'systemd does not run on this machine; let its own supervisor run `cairn serve`, ' +
      'or write the unit for another machine with --root DIR.',
  );
}

/** Creates a user without shell and home, unless it exists. */
function addUser(user: string, root: string | undefined): void {
  const users = join(root ?? '/', 'etc/passwd');
  const known = existsSync(users) ? readFileSync(users, 'utf8') : '';
  if (known.split('\n').some((line) => line.startsWith(`${user}:`))) return;
  // A folder that is not the root of a system has no users. The unit is written anyway.
  if (root !== undefined && known === '') return;
  const prefix = root === undefined ? [] : ['--prefix', root];
  run('useradd', [...prefix, '--system', '--no-create-home', '--shell', '/usr/sbin/nologin', user]);
}

function asRoot(write: () => void): void {
  try {
    write();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new StartError(`${path ?? 'a file'} cannot be written by this user; run \`cairn service\` with sudo.`);
  }
}

function run(program: string, args: readonly string[]): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { readonly stderr?: Buffer };
    const said = code === 'ENOENT' ? `there is no ${program} on this machine` : (stderr?.toString() ?? '').trim();
    throw new StartError(`${[program, ...args].join(' ')} failed: ${said.split('\n')[0]}`);
  }
}
