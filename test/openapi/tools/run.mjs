/**
 * Holds the OpenAPI document of the built hub against tools of others: two linters, a generator of types, the compiler,
 * and a client of those types against the running hub. Everything happens in `dist/openapi-tools`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openToolFolder, ROOT } from '../../support/tool-folder.mjs';

const FILES = ['redocly.yaml', 'spectral.yaml', 'tsconfig.json', 'client.ts'];
const { work: WORK, modules, run } = openToolFolder(new URL('.', import.meta.url), 'openapi-tools', FILES);

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
