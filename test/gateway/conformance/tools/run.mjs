/**
 * Runs the MCP conformance suite against the fixture gateway, for both revisions that have requirements, and its scenarios
 * for authorization servers against a hub. Compares each scenario with `claims.json`: what is claimed must be green, and
 * what is not claimed must fail for the reason listed there. Everything happens in `dist/conformance-tools`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { nodeOf, openToolFolder, ROOT } from '../../../support/tool-folder.mjs';

const { work: WORK, modules, env } = openToolFolder(new URL('.', import.meta.url), 'conformance-tools');
const SUITE = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const REVISIONS = ['2025-11-25', '2026-07-28'];
/** The suite needs the globSync of this Node.js. */
const NODE_MAJOR = 22;

/** Runs a part of the suite; returns the checks by scenario. `heard` is told each line that it writes. */
async function runSuite(name, command, heard = () => undefined) {
  const results = join(WORK, 'results', name);
  rmSync(results, { recursive: true, force: true });
  const child = spawn(nodeOf(modules, NODE_MAJOR), [SUITE, ...command, '--output-dir', results], {
    cwd: WORK,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
  createInterface({ input: child.stdout }).on('line', heard);
  const [error] = await new Promise((resolve) => {
    child.on('error', (problem) => resolve([problem]));
    child.on('close', () => resolve([]));
  });
  if (error !== undefined || !existsSync(results)) throw error ?? new Error(`the suite left no results\n${said}`);
  return new Map(
    readdirSync(results, { recursive: true })
      .filter((path) => path.endsWith('checks.json'))
      .map((path) => [scenarioOf(path), JSON.parse(readFileSync(join(results, path), 'utf8'))]),
  );
}

/** A folder of results is `server-<scenario>-<time>`, or begins with `authorization-server-`. */
function scenarioOf(path) {
  const found = /(?:^|[\\/])(?:authorization-)?server-(.+)-\d{4}-\d{2}-\d{2}T[^\\/]*[\\/]checks\.json$/.exec(path);
  if (found === null) throw new Error(`results of no scenario: ${path}`);
  return found[1];
}

/** What is wrong with a revision, one line each. */
function compare(revision, checksOf, unclaimed) {
  const wrong = [];
  for (const [scenario, checks] of checksOf) {
    const listed = unclaimed[scenario]?.checks ?? [];
    const failed = checks.filter(({ status }) => status === 'FAILURE');
    for (const { id, errorMessage } of failed) {
      if (!listed.includes(id)) wrong.push(`${revision} ${scenario}: ${id} failed: ${errorMessage}`);
    }
    for (const id of listed) {
      if (!failed.some((one) => one.id === id))
        wrong.push(`${revision} ${scenario}: ${id} does not fail, so do not list it`);
    }
  }
  for (const scenario of Object.keys(unclaimed)) {
    if (!checksOf.has(scenario)) wrong.push(`${revision} ${scenario}: listed, but the suite did not run it`);
    if (!unclaimed[scenario].reason) wrong.push(`${revision} ${scenario}: listed without a reason`);
  }
  return wrong;
}

/** Prints how a part of the suite went; false when it is not as claimed. */
function isAsClaimed(name, checksOf) {
  const wrong = compare(name, checksOf, claims[name]);
  const count = (status) => [...checksOf.values()].flat().filter((check) => check.status === status).length;
  const green = [...checksOf].filter(([, checks]) => checks.some(({ status }) => status === 'SUCCESS')).length;
  const failed = [...checksOf].filter(([, checks]) => checks.some(({ status }) => status === 'FAILURE')).length;
  const sums = `${checksOf.size - failed} of ${checksOf.size} scenarios green, ${count('SUCCESS')} checks passed, ${count('FAILURE')} not claimed`;
  process.stdout.write(`${name}: ${sums}\n${wrong.map((line) => `FAILED  ${line}\n`).join('')}`);
  return wrong.length === 0 && green > 0;
}

const claims = JSON.parse(readFileSync(new URL('claims.json', import.meta.url), 'utf8'));
const built = (file) => import(pathToFileURL(join(ROOT, 'dist', 'test', 'gateway', 'conformance', file)).href);
const { startFixtureGateway } = await built('server.js');
const { startSignIn } = await built('sign-in.js');
let isGood = true;
for (const revision of REVISIONS) {
  const gateway = startFixtureGateway();
  try {
    const command = ['server', '--url', gateway.url, '--requirements', revision];
    if (!isAsClaimed(revision, await runSuite(revision, command))) isGood = false;
  } finally {
    gateway.stop();
  }
}
const signIn = await startSignIn();
try {
  const { url, clientId, port } = signIn;
  const command = [
    'authorization',
    '--url',
    url,
    '--client-id',
    clientId,
    '--port',
    `${port}`,
    '--resource',
    `${url}/mcp`,
  ];
  const checksOf = await runSuite('authorization', command, (line) => {
    // The suite shows the person where to sign in.
    if (line.startsWith(`${url}/oauth/authorize?`)) void signIn.consent(line);
  });
  // One that had no client to sign in would be skipped, which is not green.
  const skipped = [...checksOf].filter(([, checks]) => !checks.some(({ status }) => status === 'SUCCESS'));
  for (const [scenario] of skipped) process.stdout.write(`FAILED  authorization ${scenario}: nothing passed\n`);
  if (!isAsClaimed('authorization', checksOf) || skipped.length > 0) isGood = false;
} finally {
  await signIn.stop();
}
process.exitCode = isGood ? 0 : 1;
