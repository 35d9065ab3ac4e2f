/** Owns how long a hub and a browser live for the tests of a file: one of each, before them and after. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launch, type Visitor, visitor } from './browser.ts';
import type { Hub } from './hub.ts';
import { type SharedHubOptions, useHub } from './use-hub.ts';

export interface SharedBrowser {
  readonly hub: Hub;
  /** A visitor of the hub, or of another one (`at`), without the cookies of any other visitor. */
  readonly visit: (options?: BrowserContextOptions, at?: Pick<Hub, 'url'>) => Promise<Visitor>;
}

/** Starts a hub and a browser before the tests of this file and ends both after them. By default, no error may be logged. */
export function useBrowser(options: SharedHubOptions = { loudest: 40 }): SharedBrowser {
  const hub = useHub(options);
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return {
    hub,
    visit: async (wanted = {}, at = hub) => {
      if (browser === undefined) throw new Error('the browser is there once beforeAll ran');
      return await visitor(browser, at, wanted);
    },
  };
}
