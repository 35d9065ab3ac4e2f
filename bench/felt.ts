/**
 * How long does a person wait? For a search, until an agent's change is on an open page, until a saved file is in the other
 * machine's folder, and for the first sync of 10,000 files of 4 KiB; the last two beside Syncthing where it is installed. The run
 * is kept in `felt.json`, from which `all.js --chart` draws the first picture of README. Some four minutes on a quiet machine.
 *
 * usage: node dist/bench/felt.js [--quick]
 */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { AS_INSTALLED, QUICKEST, syncthingVersion } from '../test/client/sync/storm/syncthing.ts';
import { launch, signUp, visitor } from '../test/support/browser.ts';
import { PASSWORD, structured } from '../test/support/gateway.ts';
import { AGENT } from '../test/support/http.ts';
import { type Felt, QUESTIONS, type Question, saveFelt, shownTime } from './charts/felt.ts';
import { cairnPair, type Files, firstSync, holds, type Pair, saves, syncthingPair } from './felt/machines.ts';
import { sumOf } from './felt/spent.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { type Bench, note, type Row, runWhenStarted } from './report.ts';
import { MARK, search, untilFound } from './search-hub.ts';
import { percentile } from './steady.ts';
import { makeText, QUERIES } from './zipf-texts.ts';

const FILE_BYTES = 4096;
const FILES_PER_FOLDER = 100;
const SEARCHES_PER_KIND = 50;
/** So many cards of a board are shown, each of which an agent changes in its turn. */
const TASKS = 10;
/** Between an agent's changes, on average. */
const PAUSE_MS = 600;

interface Size {
  readonly files: Files;
  /** How many saves, and how many changes of an agent. */
  readonly times: number;
}

export const felt: Bench = async ({ quick }) => {
  const [load = Number.NaN] = loadavg();
  const size: Size = { files: filesOf(quick ? 1000 : 10_000), times: quick ? 10 : 40 };
  const found = [...(await withCairn(size)), ...(await withSyncthing(size))];
  const on = new Date().toISOString().slice(0, 10);
  saveFelt({ on, load: Math.round(load), cores: availableParallelism(), files: size.files.size, found });
  return QUESTIONS.map(([question, text]) =>
    rowOf(
      text(size.files.size),
      found.filter((one) => one.question === question),
    ),
  );
};

/** Notes in folders, of words as frequent as those of a language. */
function filesOf(count: number): Files {
  const pathOf = (at: number) => `notes ${Math.floor(at / FILES_PER_FOLDER)}/${MARK} ${at}.md`;
  const content = () => Buffer.from(makeText().padEnd(FILE_BYTES, '\n')).subarray(0, FILE_BYTES);
  return new Map(Array.from({ length: count }, (_, at) => [pathOf(at), content()]));
}

async function withCairn(size: Size): Promise<Felt[]> {
  const hub = await startCairn({ CAIRN_LOG_LEVEL: 'warn', CAIRN_SIGNUP: 'open', CAIRN_LOOP_DELAY_MS: '0' });
  try {
    const person = { email: 'felt@example.org', password: PASSWORD };
    const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', person);
    const found: Felt[] = [];
    const pair = cairnPair(hub, key);
    try {
      found.push(await synced('Cairn', pair, size));
      found.push(await searched(hub, key, size));
      found.push(timed('save', 'Cairn', await saves(pair, size.files, size.times)));
    } finally {
      await pair.stop();
    }
    found.push(...(await shownOnPage(hub, size.times)));
    return found;
  } finally {
    await hub.stop();
  }
}

async function withSyncthing(size: Size): Promise<Felt[]> {
  const version = syncthingVersion();
  if (version === undefined) {
    note('Syncthing is not installed (Debian: syncthing): Cairn is measured alone');
    return [];
  }
  note(version);
  const pair = syncthingPair();
  try {
    const found = [await synced('Syncthing', pair, size)];
    for (const [by, { gather }] of [
      ['as installed', AS_INSTALLED],
      ['the shortest', QUICKEST],
    ] as const) {
      await pair.gather(gather);
      found.push(timed('save', `Syncthing, delay ${gather} s (${by})`, await saves(pair, size.files, size.times)));
    }
    return found;
  } finally {
    await pair.stop();
  }
}

async function synced(by: string, pair: Pair, { files }: Size): Promise<Felt> {
  const { seconds, spent } = await firstSync(pair, files);
  const cpuSeconds = sumOf(spent, 'cpuSeconds');
  note(`first sync, ${by}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor time`);
  return { question: 'first sync', by, ms: 1000 * seconds, cpuSeconds };
}

/** Searches of each kind in turn, once all files are in the index. */
async function searched(hub: Cairn, key: string, { files }: Size): Promise<Felt> {
  const headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT };
  await untilFound(hub, headers, files.size);
  const times: number[] = [];
  for (let round = 0; round < SEARCHES_PER_KIND; round += 1) {
    for (const [, queryOf] of QUERIES) {
      const query = queryOf();
      const startMs = performance.now();
      await search(hub, headers, query);
      times.push(performance.now() - startMs);
    }
  }
  return timed('search', 'Cairn', times);
}

async function shownOnPage(hub: Cairn, times: number): Promise<Felt[]> {
  let browser: Browser;
  try {
    browser = await launch();
  } catch (error) {
    note(`no browser, so no page: ${(error as Error).message}`);
    return [];
  }
  try {
    const { page } = await visitor(browser, hub);
    return [timed('page', 'Cairn', await changesOn(page, hub, times))];
  } finally {
    await browser.close();
  }
}

/** Notes when each change is first on the page, at the frame that shows it. */
const NOTE_CHANGES = `
  globalThis.shownMs = new Map();
  const look = () => {
    for (const [word] of document.body.textContent.matchAll(/change \\d+/g))
      if (!shownMs.has(word)) shownMs.set(word, Date.now());
  };
  new MutationObserver(() => requestAnimationFrame(look)).observe(document.body, {
    subtree: true, childList: true, characterData: true,
  });`;

/** Milliseconds from each tool call until its change is shown on an open board. */
async function changesOn(page: Page, hub: Cairn, times: number): Promise<number[]> {
  const key = await signUp(page, 'page@example.org', PASSWORD);
  for (let made = 1; made <= TASKS; made += 1) await structured(hub, 'create_task', { content: `Task ${made}` }, key);
  await page.goto('/tasks');
  await page.evaluate(NOTE_CHANGES);
  const askedMs = new Map<string, number>();
  // The first is no figure: the page has just been opened.
  for (let at = 0; at <= times; at += 1) {
    await sleep(PAUSE_MS * (0.5 + Math.random()));
    const content = `change ${at}`;
    if (at > 0) askedMs.set(content, Date.now());
    await structured(hub, 'update_task', { id: 1 + (at % TASKS), content }, key);
  }
  const shown = async () => new Map((await page.evaluate('[...shownMs]')) as [string, number][]);
  let shownMs = await shown();
  const areShown = async () => {
    shownMs = await shown();
    return shownMs.size > times;
  };
  await holds(areShown, () => `${shownMs.size} of ${times + 1} changes were shown`);
  return [...askedMs].map(([content, ms]) => (shownMs.get(content) ?? Number.NaN) - ms);
}

function timed(question: Question, by: string, times: readonly number[]): Felt {
  const rising = times.toSorted((a, b) => a - b);
  const [ms, p99Ms] = [percentile(rising, 0.5), percentile(rising, 0.99)];
  note(`${question}, ${by}, ${rising.length} times: p50 ${shownTime(ms)}, p99 ${shownTime(p99Ms)}`);
  return { question, by, ms, p99Ms };
}

function rowOf(question: string, found: readonly Felt[]): Row {
  const [own, ...others] = found.toSorted((a, b) => Number(b.by === 'Cairn') - Number(a.by === 'Cairn'));
  const figure = ({ ms, p99Ms, cpuSeconds }: Felt) =>
    p99Ms === undefined
      ? `${shownTime(ms)}, ${cpuSeconds?.toFixed(1)} s of processor time`
      : `p50 ${shownTime(ms)}, p99 ${shownTime(p99Ms)}`;
  return {
    question,
    cairn: own === undefined ? 'not measured' : figure(own),
    yardstick: others.map((one) => `${one.by} ${figure(one)}`).join('; '),
    ratio: others.map(({ ms }) => ((own?.ms ?? Number.NaN) / ms).toFixed(2)).join('; '),
    target: '',
    reached: undefined,
  };
}

await runWhenStarted(import.meta.url, felt);
