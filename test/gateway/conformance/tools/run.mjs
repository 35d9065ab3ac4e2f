/**
 * Runs the MCP conformance suite against the fixture gateway, for both revisions that have requirements, and compares each
 * scenario with `claims.json`: what is claimed must be green, and what is not claimed must fail for the reason listed there.
 * Everything happens in `dist/conformance-tools`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeOf, openToolFolder, ROOT } from '../../../support/tool-folder.mjs';

const { work: WORK, modules, env } = openToolFolder(new URL('.', import.meta.url), 'conformance-tools');
const SUITE = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const REVISIONS = ['2025-11-25', '2026-07-28'];
/** The suite needs the globSync of this Node.js. */
const NODE_MAJOR = 22;

/** Runs what a revision requires; returns the checks by scenario. */
async function runSuite(revision, url) {
  const results = join(WORK, 'results', revision);
  rmSync(results, { recursive: true, force: true });
  const args = [SUITE, 'server', '--url', url, '--requirements', revision, '--output-dir', results];
  const child = spawn(nodeOf(modules, NODE_MAJOR), args, {
    cwd: WORK,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
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

/** A folder of results is `server-<scenario>-<time>`. */
function scenarioOf(path) {
  const found = /(?:^|[\\/])server-(.+)-\d{4}-\d{2}-\d{2}T[^\\/]*[\\/]checks\.json$/.exec(path);
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

const claims = JSON.parse(readFileSync(new URL('claims.json', import.meta.url), 'utf8'));
const server = join(ROOT, 'dist', 'test', 'gateway', 'conformance', 'server.js');
const { startFixtureGateway } = await import(pathToFileURL(server).href);
let isGood = true;
for (const revision of REVISIONS) {
  const gateway = startFixtureGateway();
  try {
    const checksOf = await runSuite(revision, gateway.url);
    const wrong = compare(revision, checksOf, claims[revision]);
    const count = (status) => [...checksOf.values()].flat().filter((check) => check.status === status).length;
    const green = [...checksOf].filter(([, checks]) => !checks.some(({ status }) => status === 'FAILURE')).length;
    const sums = `${green} of ${checksOf.size} scenarios green, ${count('SUCCESS')} checks passed, ${count('FAILURE')} not claimed`;
    process.stdout.write(`${revision}: ${sums}\n${wrong.map((line) => `FAILED  ${line}\n`).join('')}`);
    if (wrong.length > 0 || green === 0) isGood = false;
  } finally {
    gateway.stop();
  }
}
process.exitCode = isGood ? 0 : 1;
