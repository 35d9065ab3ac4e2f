/**
 * Holds the OpenAPI document of the built hub against tools of others: two linters, a generator of types, the compiler,
 * and a client of those types against the running hub. Everything happens in `dist/openapi-tools`.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const WORK = join(ROOT, 'dist', 'openapi-tools');
const FILES = ['package.json', 'package-lock.json', 'redocly.yaml', 'spectral.yaml', 'tsconfig.json', 'client.ts'];

let passed = 0;
let failed = 0;

function report(step, error) {
  if (error === undefined) passed += 1;
  else failed += 1;
  process.stdout.write(error === undefined ? `ok      ${step}\n` : `FAILED  ${step}\n${error?.stack ?? error}\n`);
}

function run(command, args) {
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  const made = spawnSync(command, args, { cwd: WORK, encoding: 'utf8', env: { ...process.env, ...quiet } });
  return { code: made.status, text: `${made.stdout}${made.stderr}${made.error ?? ''}` };
}

/** Runs a tool of the folder as one step. */
function tool(step, name, args) {
  const { code, text } = run(process.execPath, [join(WORK, 'node_modules', ...name), ...args]);
  report(step, code === 0 ? undefined : text);
  return code === 0;
}

/** Installs what the lock file pins, unless it is there. */
function install() {
  mkdirSync(WORK, { recursive: true });
  const marker = join(WORK, 'node_modules', '.installed');
  const lock = readFileSync(join(HERE, 'package-lock.json'), 'utf8');
  for (const file of FILES) copyFileSync(join(HERE, file), join(WORK, file));
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  const { code, text } = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  if (code !== 0) throw new Error(`npm ci failed in ${WORK}\n${text}`);
  writeFileSync(marker, lock);
}

async function check(hub) {
  const answer = await fetch(`${hub.url}/api/mcp/openapi.json`, { headers: { 'User-Agent': 'cairn-openapi-test/1' } });
  writeFileSync(join(WORK, 'openapi.json'), await answer.text());
  tool('redocly lint', ['@redocly', 'cli', 'bin', 'cli.js'], ['lint', 'openapi.json', '--config', 'redocly.yaml']);
  tool(
    'spectral lint',
    ['@stoplight', 'spectral-cli', 'dist', 'index.js'],
    ['lint', 'openapi.json', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint'],
  );
  const isReady =
    tool('types are generated', ['openapi-typescript', 'bin', 'cli.js'], ['openapi.json', '-o', 'schema.d.ts']) &&
    tool('the typed client compiles', ['typescript', 'bin', 'tsc'], ['-p', 'tsconfig.json']);
  if (!isReady) return;
  const { runRoundTrip } = await import(pathToFileURL(join(WORK, 'out', 'client.js')).href);
  await runRoundTrip({
    baseUrl: hub.url,
    report,
    accessToken: async (email) => {
      const made = await hub.cli('token', 'create', '--email', email, '--json');
      if (made.code !== 0) throw new Error(made.stderr);
      return JSON.parse(made.stdout).access_token;
    },
  });
}

install();
const { startHub } = await import(pathToFileURL(join(ROOT, 'dist', 'test', 'support', 'hub.js')).href);
const hub = await startHub();
try {
  await check(hub);
} catch (error) {
  report('the run', error);
} finally {
  await hub.stop();
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
