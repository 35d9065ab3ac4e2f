/**
 * Builds the Debian package from an npm package: the program with its dependencies, a systemd unit, a user, and
 * completion for three shells. Run it on the architecture of the package.
 *
 * usage: node dist/src/ops/package/debian.js CAIRN.TGZ FOLDER
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { SERVICE_USER, SETTINGS_FILE, STATE_FOLDER, settingsText, UNIT_NAME, unitText } from '../service/unit.ts';

const PROGRAM = '/usr/lib/cairn';
const ENTRY = 'dist/src/cli/cairn.js';
/** NODE_MODULE_VERSION of Node.js 20 and 22, of which the older build of the HTTP library has binaries. */
const NODE_VERSIONS = ['115', '127'];

const runs = (program: string, args: readonly string[], cwd?: string): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...(cwd && { cwd }) }).trim();

/** Writes the Debian package into a folder and returns its path. */
function makeDebianPackage(npmPackage: string, folder: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'cairn-debian-'));
  try {
    chmodSync(stage, 0o755);
    const { version, description } = putProgram(stage, npmPackage);
    putBesides(stage);
    const machine = runs('dpkg', ['--print-architecture']);
    const size = runs('du', ['-sk', stage]).split('\t')[0] ?? '0';
    putControl(stage, controlText({ version, description, machine, size }));
    const path = join(folder, `cairn_${version}_${machine}.deb`);
    mkdirSync(folder, { recursive: true });
    runs('dpkg-deb', ['--root-owner-group', '--build', stage, path]);
    return path;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Adds the program with exactly the dependencies of the npm package. */
function putProgram(stage: string, npmPackage: string): { readonly version: string; readonly description: string } {
  const program = join(stage, PROGRAM);
  mkdirSync(program, { recursive: true });
  runs('tar', ['-xzf', npmPackage, '-C', program, '--strip-components=1', '--no-same-owner']);
  runs('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], program);
  runs(process.execPath, ['.package/trim.mjs', ...NODE_VERSIONS], program);
  putHttpLibraries(program);
  for (const name of ['.package', 'npm-shrinkwrap.json']) rmSync(join(program, name), { recursive: true });
  chmodSync(join(program, ENTRY), 0o755);
  runs('chmod', ['-R', 'u=rwX,go=rX', program]);
  return JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as { version: string; description: string };
}

interface Locked {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version: string; readonly integrity: string; readonly os: string[]; readonly cpu: string[] }
    >
  >;
}

/** Adds the newer builds of the HTTP library as they are pinned: npm installs the one for its own Node.js only. */
function putHttpLibraries(program: string): void {
  const { packages } = JSON.parse(readFileSync(join(program, 'npm-shrinkwrap.json'), 'utf8')) as Locked;
  for (const [path, { version, integrity, os, cpu }] of Object.entries(packages)) {
    if (!path.startsWith('node_modules/@uwsjs/') || !os.includes(process.platform) || !cpu.includes(process.arch))
      continue;
    const name = `${path.slice('node_modules/'.length)}@${version}`;
    const [packed] = JSON.parse(runs('npm', ['pack', '--json', '--silent', name], program)) as {
      readonly filename: string;
      readonly integrity: string;
    }[];
    if (packed?.integrity !== integrity) throw new Error(`${name} is not the package that package-lock.json pins`);
    mkdirSync(join(program, path), { recursive: true });
    runs('tar', ['-xzf', packed.filename, '-C', path, '--strip-components=1', '--no-same-owner'], program);
    rmSync(join(program, packed.filename));
  }
}

/** Adds everything else: command, unit, settings, completion, manual. */
function putBesides(stage: string): void {
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    writeFileSync(join(stage, path), text);
    chmodSync(join(stage, path), mode);
  };
  const entry = join(PROGRAM, ENTRY);
  mkdirSync(join(stage, 'usr/bin'), { recursive: true });
  symlinkSync(`..${entry.slice('/usr'.length)}`, join(stage, 'usr/bin/cairn'));
  const command = ['/usr/bin/node', entry];
  put(`/usr/lib/systemd/system/${UNIT_NAME}`, unitText({ command, user: SERVICE_USER, dataFolder: STATE_FOLDER }));
  put(SETTINGS_FILE, settingsText, 0o600);
  const completion = (shell: string) => `${runs(process.execPath, [join(stage, entry), 'completion', shell])}\n`;
  put('/usr/share/bash-completion/completions/cairn', completion('bash'));
  put('/usr/share/zsh/vendor-completions/_cairn', completion('zsh'));
  put('/usr/share/fish/vendor_completions.d/cairn.fish', completion('fish'));
  const documents = join(stage, 'usr/share/doc/cairn');
  mkdirSync(documents, { recursive: true });
  cpSync(join(stage, PROGRAM, 'LICENSE'), join(documents, 'copyright'));
  cpSync(join(stage, PROGRAM, 'README.md'), join(documents, 'README.md'));
  cpSync(join(stage, PROGRAM, 'src/manual'), join(documents, 'manual'), { recursive: true });
}

interface Facts {
  readonly version: string;
  readonly description: string;
  readonly machine: string;
  /** In KiB. */
  readonly size: string;
}

/** What Node.js later than 22 needs, by Debian's name of a machine; elsewhere no build of the HTTP library is for it. */
const NODE_BY_MACHINE: Readonly<Record<string, string>> = {
  amd64: 'nodejs (<< 27~), nodejs (<< 23~) | libc6 (>= 2.38)',
};

const controlText = ({ version, description, machine, size }: Facts) => `Package: cairn
Version: ${version}
Architecture: ${machine}
Maintainer: The operator of this hub <root@localhost>
Installed-Size: ${size}
Depends: nodejs (>= 20.19), ${NODE_BY_MACHINE[machine] ?? 'nodejs (<< 23~)'}, libc6, passwd
Section: net
Priority: optional
Description: ${description.replace(/\.$/, '')}
`;

/** Creates the user and the data folder; starts the service if systemd is running. */
const AFTER_INSTALL = `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
if ! grep -q '^${SERVICE_USER}:' "$DPKG_ROOT/etc/passwd"; then
  useradd --prefix "$DPKG_ROOT/" --system --user-group --no-create-home --home-dir ${STATE_FOLDER} --shell /usr/sbin/nologin ${SERVICE_USER}
fi
owner=$(awk -F: '$1 == "${SERVICE_USER}" { print $3 ":" $4 }' "$DPKG_ROOT/etc/passwd")
mkdir -p "$DPKG_ROOT${STATE_FOLDER}"
chmod 700 "$DPKG_ROOT${STATE_FOLDER}"
chown "$owner" "$DPKG_ROOT${STATE_FOLDER}"
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable ${UNIT_NAME}
  systemctl restart ${UNIT_NAME}
fi
`;

const BEFORE_REMOVE = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
  systemctl disable --now ${UNIT_NAME}
fi
`;

/** Removing the package never removes data. */
const AFTER_REMOVE = `#!/bin/sh
set -e
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then echo "cairn: the data of the hub is still in ${STATE_FOLDER}; remove it yourself if you no longer need it."; fi
`;

function putControl(stage: string, control: string): void {
  const folder = join(stage, 'DEBIAN');
  mkdirSync(folder);
  writeFileSync(join(folder, 'control'), control);
  writeFileSync(join(folder, 'conffiles'), `${SETTINGS_FILE}\n`);
  for (const [name, text] of [
    ['postinst', AFTER_INSTALL],
    ['prerm', BEFORE_REMOVE],
    ['postrm', AFTER_REMOVE],
  ] as const) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
}

const [npmPackage, folder] = process.argv.slice(2);
if (npmPackage === undefined || folder === undefined) {
  process.stderr.write('usage: debian.js CAIRN.TGZ FOLDER\n');
  process.exitCode = 2;
} else {
  process.stdout.write(`${makeDebianPackage(resolve(npmPackage), resolve(folder))}\n`);
}
