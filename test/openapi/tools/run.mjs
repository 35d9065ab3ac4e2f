/**
 * Holds the OpenAPI document of the built hub against tools of others: two linters, a generator of types, the compiler,
 * and a client of those types against the running hub, once directly and once through a proxy that holds each request and each
 * answer against the document. Everything happens in `dist/openapi-tools`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openToolFolder, ROOT } from '../../support/tool-folder.mjs';

const FILES = ['redocly.yaml', 'spectral.yaml', 'tsconfig.json', 'client.ts', 'round-trip.ts'];
const { work: WORK, modules, run, env: QUIET } = openToolFolder(new URL('.', import.meta.url), 'openapi-tools', FILES);

let passed = 0;
let failed = 0;

function report(step, error) {
  if (error === undefined) passed += 1;
  else failed += 1;
  process.stdout.write(error === undefined ? `ok      ${step}\n` : `FAILED  ${step}\n${error?.stack ?? error}\n`);
}

/** Runs a tool of the folder as one step. */
function tool(step, name, args) {
  const { code, text } = run(process.execPath, [join(modules, ...name), ...args]);
  report(step, code === 0 ? undefined : text);
  return code === 0;
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
  const trip = (urls, note) => ({
    ...urls,
    report: (step, error) => report(`${step}${note}`, error),
    accessToken: async (email) => {
      const made = await hub.cli('token', 'create', '--email', email, '--json');
      if (made.code !== 0) throw new Error(made.stderr);
      return JSON.parse(made.stdout).access_token;
    },
  });
  await runRoundTrip(trip({ baseUrl: hub.url }, ''));
  const proxy = await startPrism(hub.url);
  try {
    await runRoundTrip(trip({ baseUrl: proxy.url, hubUrl: hub.url }, ', validated by prism'));
  } finally {
    await proxy.stop();
  }
}

/** Starts prism in front of the hub. It answers what breaks the document with an error of its own (`--errors`). */
async function startPrism(hubUrl) {
  const port = await freePort();
  const cli = join(modules, '@stoplight', 'prism-cli', 'dist', 'index.js');
  const args = [cli, 'proxy', 'openapi.json', hubUrl, '--errors', '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(process.execPath, args, { cwd: WORK, env: { ...process.env, ...QUIET } });
  let said = '';
  const ended = once(child, 'exit');
  const listening = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        said += bytes;
        if (said.includes('Prism is listening')) resolve(true);
      });
    }
  });
  if ((await Promise.race([listening, ended])) !== true) throw new Error(`prism ended: ${said}`);
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

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
