/** Builds a Debian package: the program with its dependencies, a systemd unit, a user, and completion for three shells. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_USER, SETTINGS_FILE, STATE_FOLDER, settingsText, UNIT_NAME, unitText } from '../service/unit.ts';
import { fitTo, type Machine, runs } from './program.ts';

const PROGRAM = '/usr/lib/cairn';
const ENTRY = 'dist/src/cli/cairn.js';
/** The command of this build, which runs on this machine whatever machine the package is for. */
const COMMAND = fileURLToPath(new URL('../../cli/cairn.js', import.meta.url));

export interface PackageFor {
  readonly machine: Machine;
  /** Who answers for the package, as `Name <mail>`. */
  readonly maintainer: string;
}

/**
 * Writes the Debian package for a machine into a folder and returns its path. `program`: the unpacked npm package with its
 * dependencies, which stays as it is. Needs `dpkg-deb`.
 */
export function makeDebianPackage(program: string, folder: string, { machine, maintainer }: PackageFor): string {
  // Beside the program, because its files are linked.
  const stage = mkdtempSync(`${program}-${machine}-`);
  try {
    chmodSync(stage, 0o755);
    mkdirSync(join(stage, dirname(PROGRAM)), { recursive: true });
    const own = join(stage, PROGRAM);
    runs('cp', ['--archive', '--link', program, own]);
    fitTo(own, machine);
    chmodSync(join(own, ENTRY), 0o755);
    putBesides(stage);
    const { version, description } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Manifest;
    const size = runs('du', ['-sk', stage]).split('\t')[0] ?? '0';
    putControl(stage, controlText({ version, description, machine, maintainer, size }));
    const path = join(folder, `cairn_${version}_${machine}.deb`);
    // dpkg of Debian 12 and Ubuntu 22.04 and later reads zstd, which takes far less time than xz.
    runs('dpkg-deb', ['--root-owner-group', '-Zzstd', '-z12', '--build', stage, path]);
    return path;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

interface Manifest {
  readonly version: string;
  readonly description: string;
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
  const completion = (shell: string) => `${runs(process.execPath, [COMMAND, 'completion', shell])}\n`;
  put('/usr/share/bash-completion/completions/cairn', completion('bash'));
  put('/usr/share/zsh/vendor-completions/_cairn', completion('zsh'));
  put('/usr/share/fish/vendor_completions.d/cairn.fish', completion('fish'));
  const documents = join(stage, 'usr/share/doc/cairn');
  mkdirSync(documents, { recursive: true });
  cpSync(join(stage, PROGRAM, 'LICENSE'), join(documents, 'copyright'));
  cpSync(join(stage, PROGRAM, 'README.md'), join(documents, 'README.md'));
  cpSync(join(stage, PROGRAM, 'src/manual'), join(documents, 'manual'), { recursive: true });
}

interface Facts extends Manifest, PackageFor {
  /** In KiB. */
  readonly size: string;
}

/** What Node.js later than 22 needs, by Debian's name of a machine; elsewhere no build of the HTTP library is for it. */
const NODE_BY_MACHINE: Readonly<Record<Machine, string>> = {
  amd64: 'nodejs (<< 27~), nodejs (<< 23~) | libc6 (>= 2.38)',
  arm64: 'nodejs (<< 23~)',
};

const controlText = ({ version, description, machine, maintainer, size }: Facts) => `Package: cairn
Version: ${version}
Architecture: ${machine}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: nodejs (>= 20.19), ${NODE_BY_MACHINE[machine]}, libc6, passwd
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
