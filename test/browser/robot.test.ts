/**
 * A robot that presses everything: every page that a link leads to, every panel, menu and button on it, by mouse and by finger,
 * at five sizes; also of an empty account and an overfull board.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { type FilledMember, memberWithEverything } from '../support/filled-member.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { linksOf, pressButtons, pressPanels, type Robot, shapeOf } from '../support/robot.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser({
  env: { CAIRN_IDP_ISSUER: 'http://127.0.0.1:9', CAIRN_IDP_AUDIENCE: 'https://hub.example.org' },
});

let filled: FilledMember;
let pages: string[];

beforeAll(async () => {
  filled = await memberWithEverything({ hub, visit });
  const { page, context } = await visit({ storageState: filled.state });
  pages = await everyPage(page);
  await context.close();
});

/** One address of each shape that links lead to from the start page, and the conflict. */
async function everyPage(page: Page): Promise<string[]> {
  const found = new Map<string, string>();
  const waiting = ['/', filled.conflict, `${filled.vault}/file?path=notes%2Fshopping.md`];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape = shapeOf(path);
    if (found.has(shape) || shape.startsWith('/help/')) continue;
    const answer = await page.request.get(path);
    expect([path, answer.status()]).toEqual([path, 200]);
    if (!(answer.headers()['content-type'] ?? '').startsWith('text/html')) continue;
    found.set(shape, path);
    await page.goto(path);
    waiting.push(...(await linksOf(page)));
  }
  return [...found.values()];
}

const SIZES = [
  ['a desk', 1440, 900, false],
  ['a phone', 390, 844, true],
  ['a tablet', 820, 1180, true],
  ['a desk at 200 %', 720, 450, false],
  ['a desk at 400 %', 360, 225, false],
] as const;

async function pressEverything(robot: Robot, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    await robot.page.goto(path);
    for (const act of [pressPanels, pressButtons]) found.push(...(await act(robot)).map((what) => `${path}: ${what}`));
  }
  return found;
}

test.each(SIZES)(
  '[WEB-17] everything that is pressed on %s answers in the window, near the pointer, and closes again',
  async (_name, width, height, isTouch) => {
    const { page, context } = await visit({
      viewport: { width, height },
      hasTouch: isTouch,
      storageState: filled.state,
    });
    expect(await pressEverything({ page, isTouch }, pages)).toEqual([]);
    await context.close();
  },
);

test('[WEB-17] the robot bites: a panel off the screen, a cut button and a dead one are found', async () => {
  const { page, context } = await visit();
  await page.setContent(`<details><summary style="width:4rem">Away</summary><p style="position:absolute;left:900px">gone</p></details>
    <button type="button" style="width:3000px">Wide</button><button>Dead</button>`);
  const robot = { page, isTouch: false };
  expect(await pressPanels(robot)).toEqual([expect.stringContaining('“Away”: opens')]);
  expect(await pressButtons(robot)).toEqual([
    expect.stringContaining('“Wide” is cut off'),
    expect.stringContaining('“Dead” does nothing'),
  ]);
  await context.close();
});

test.each(SIZES)(
  '[WEB-17] an empty account and an overfull board answer as well on %s',
  async (name, width, height, isTouch) => {
    const { page, context } = await visit({ viewport: { width, height }, hasTouch: isTouch });
    const key = await signUp(page, `robot-${name.replaceAll(/[^a-z]/g, '')}${width}@example.org`, PASSWORD);
    const robot = { page, isTouch };
    const paths = ['/', '/tasks', '/vaults', '/documents/docs', '/mirror', '/settings', '/search'];
    expect(await pressEverything(robot, paths)).toEqual([]);
    for (let at = 0; at < 60; at += 1) await structured(hub, 'create_task', { content: `Task ${at}` }, key);
    expect(await pressEverything(robot, ['/tasks', '/tasks?column=todo'])).toEqual([]);
    await context.close();
  },
);
