/** Presses what a page has, as a person does: at the place where it stands, by mouse or by finger. */
import type { Page } from 'playwright-core';

/** What is opened may be this far from what was pressed. */
const NEAR_PX = 40;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What can be pressed, by its number on the page. */
interface Target {
  readonly name: string;
  readonly box: Box;
}

/** What a press opened: where it is, how much of it can be seen, and whether something lies over it. */
interface Opened {
  readonly isOpen: boolean;
  readonly pressed: Box;
  readonly body: Box;
  readonly isOnTop: boolean;
  readonly width: number;
  readonly height: number;
}

/** Runs in the page: what the functions below ask for. Inside of closed panels nothing can be pressed. */
const EYES = `(() => {
  const box = (one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 1;
  const nameOf = (one) => ((one.getAttribute('aria-label') ?? '') || one.innerText || one.value || one.outerHTML).trim().slice(0, 60);
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
  const isReached = (one, { left, top, right, bottom }) => {
    const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return at !== null && (one.contains(at) || at.contains(one));
  };
  /** Where everything behind the summary stands, elements and bare text. */
  const bodyBox = (details) => {
    const boxes = [...details.childNodes].filter((one) => one.nodeName !== 'SUMMARY').map((one) => {
      if (one instanceof Element) return box(one);
      const range = new Range();
      range.selectNode(one);
      return box(range);
    }).filter(({ left, right }) => right > left);
    return {
      left: Math.min(...boxes.map((one) => one.left)), top: Math.min(...boxes.map((one) => one.top)),
      right: Math.max(...boxes.map((one) => one.right)), bottom: Math.max(...boxes.map((one) => one.bottom)),
    };
  };
  globalThis.robot = {
    count: (selector) => all(selector).length,
    /** Scrolls until the one with this number is at the lower edge of the window, where a panel has the least room. */
    show(selector, at) {
      const one = all(selector)[at];
      if (one === undefined) return undefined;
      const { bottom } = box(one);
      scrollTo({ top: scrollY + bottom - innerHeight + 4, behavior: 'instant' });
      globalThis.robotTarget = one;
      return { name: nameOf(one), box: box(one), isReached: isReached(one, box(one)), width: innerWidth, height: innerHeight };
    },
    opened() {
      const details = globalThis.robotTarget.parentElement;
      const seen = bodyBox(details);
      const within = { ...seen, top: Math.max(seen.top, 0), bottom: Math.min(seen.bottom, innerHeight) };
      return {
        isOpen: details.open, pressed: box(globalThis.robotTarget), body: seen,
        isOnTop: isReached(details, within), width: innerWidth, height: innerHeight,
      };
    },
    isOpen: () => globalThis.robotTarget.parentElement.open,
  };
})()`;

export interface Robot {
  readonly page: Page;
  /** By finger instead of the mouse. */
  readonly isTouch: boolean;
}

/** Opens and closes each panel and menu of the page. Returns a sentence for each that cannot be seen, reached or closed. */
export async function pressPanels(robot: Robot): Promise<string[]> {
  const { page } = robot;
  await page.evaluate(EYES);
  const found: string[] = [];
  const selector = "'details:not([open]) > summary'";
  const count = await page.evaluate<number>(`robot.count(${selector})`);
  for (let at = 0; at < count; at += 1) {
    const target = await page.evaluate<(Target & { isReached: boolean }) | undefined>(`robot.show(${selector}, ${at})`);
    if (target === undefined) break;
    await press(robot, target.box);
    const opened = await page.evaluate<Opened>('robot.opened()');
    const wrong = problemsOf(opened);
    if (wrong.length > 0) found.push(`“${target.name}”: ${wrong.join(', ')}`);
    if (opened.isOpen) {
      await press(robot, opened.pressed);
      if (await page.evaluate<boolean>('robot.isOpen()')) {
        found.push(`“${target.name}” stays open when it is pressed again`);
        await page.evaluate('robotTarget.parentElement.open = false');
      }
    }
  }
  return found;
}

function problemsOf({ isOpen, pressed, body, isOnTop, width, height }: Opened): string[] {
  if (!isOpen) return ['it does not open'];
  const gapX = Math.max(body.left - pressed.right, pressed.left - body.right, 0);
  const gapY = Math.max(body.top - pressed.bottom, pressed.top - body.bottom, 0);
  const [x, y] = [Math.round(gapX), Math.round(gapY)];
  const overlaps =
    Math.min(body.right, pressed.right) - Math.max(body.left, pressed.left) > 1 &&
    Math.min(body.bottom, pressed.bottom) - Math.max(body.top, pressed.top) > 1;
  // What is taller than the window begins in it.
  const fits = body.bottom - body.top <= height - (pressed.bottom - pressed.top) - 16;
  return [
    ...(gapX > NEAR_PX || gapY > NEAR_PX ? [`opens ${x} × ${y} px away`] : []),
    ...(overlaps ? ['covers what was pressed'] : []),
    ...(body.left < -1 || body.right > width + 1
      ? [`is cut off: ${Math.round(body.left)} to ${Math.round(body.right)} of ${width} px`]
      : []),
    ...(fits && (body.top < -1 || body.bottom > height + 1)
      ? [`is out of the window: ${Math.round(body.top)} to ${Math.round(body.bottom)} of ${height} px`]
      : []),
    ...(fits || (body.top < height - NEAR_PX && body.bottom > NEAR_PX) ? [] : ['begins out of the window']),
    ...(pressed.top < -1 || pressed.bottom > height + 1 ? ['the button itself has left the window'] : []),
    ...(isOnTop ? [] : ['something lies over it']),
  ];
}

/**
 * Presses each button that can be seen. No form is sent: a press counts when a form would have been sent, a field asks to be
 * filled in, or the button itself says that it did something.
 */
export async function pressButtons(robot: Robot): Promise<string[]> {
  const { page } = robot;
  await page.evaluate(EYES);
  await page.evaluate(`(() => {
    globalThis.answers = 0;
    const count = (event) => { globalThis.answers += 1; if (event.type === 'submit') { event.preventDefault(); event.stopImmediatePropagation(); } };
    for (const type of ['submit', 'invalid', 'click']) addEventListener(type, (event) => {
      if (type !== 'click' || event.target.closest?.('[type=button]')) count(event);
    }, true);
  })()`);
  const found: string[] = [];
  const selector = "'button:not(dialog button)'";
  const count = await page.evaluate<number>(`robot.count(${selector})`);
  for (let at = 0; at < count; at += 1) {
    const target = await page.evaluate<(Target & { isReached: boolean; width: number }) | undefined>(
      `robot.show(${selector}, ${at})`,
    );
    if (target === undefined) break;
    const { name, box, isReached, width } = target;
    if (box.left < -1 || box.right > width + 1) {
      found.push(`“${name}” is cut off: ${Math.round(box.left)} to ${Math.round(box.right)} of ${width} px`);
    } else if (!isReached) {
      found.push(`something lies over “${name}”`);
    } else {
      const before = await page.evaluate<number>('answers');
      await press(robot, box);
      if ((await page.evaluate<number>('answers')) === before) found.push(`“${name}” does nothing`);
    }
  }
  return found;
}

/** Presses the middle of a box, and waits until the page is drawn again. */
async function press({ page, isTouch }: Robot, { left, top, right, bottom }: Box): Promise<void> {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  await (isTouch ? page.touchscreen.tap(x, y) : page.mouse.click(x, y));
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** The addresses that a page links to on its own host, without a fragment. */
export async function linksOf(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`[...new Set([...document.querySelectorAll('a[href]')]
    .map((one) => new URL(one.href)).filter((one) => one.host === location.host)
    .map((one) => one.pathname + one.search))]`);
}

/** What an address shows, with any number in place of numbers and any value in place of values: pages alike have one shape. */
export function shapeOf(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://hub.invalid');
  const names = [...new Set(searchParams.keys())].sort((a, b) => (a < b ? -1 : 1));
  return `${pathname.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27,}|\b\d+\b/g, '#')}?${names.join('&')}`;
}
