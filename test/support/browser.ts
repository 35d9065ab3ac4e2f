/** Drives a real browser without a window: the one that CHROMIUM_PATH names, or Debian's. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Hub } from './hub.ts';

/** The first is the same engine without the window that it never shows: launch, page and press take half the processor time. */
const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? INSTALLED.find(existsSync);

/** With script, and without: every page works either way. */
export const SCRIPTS = [
  ['with script', true],
  ['without script', false],
] as const;

export async function launch(): Promise<Browser> {
  if (EXECUTABLE === undefined || !existsSync(EXECUTABLE)) {
    const looked = EXECUTABLE ?? INSTALLED.join(' or ');
    throw new Error(`there is no browser at ${looked}; install chromium-headless-shell, or set CHROMIUM_PATH to one`);
  }
  // Chromium's own sandbox cannot be set up by root, which is who runs in most containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return await chromium.launch({ executablePath: EXECUTABLE, args });
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained of: broken scripts, refused loads, requests to another host. */
  readonly complaints: string[];
}

/** A browser of its own: no cookies of another, and an ear on what goes wrong. */
export async function visitor(
  browser: Browser,
  hub: Pick<Hub, 'url'>,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  // The browser without a window does not grant the clipboard to who presses a button.
  const permissions = ['clipboard-write'];
  const context = await browser.newContext({ baseURL: hub.url, timezoneId: 'Asia/Tokyo', permissions, ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    // A form that came back, and a page that is not there, are answers; the browser counts them as failed loads.
    if (/status of (404|422) /.test(message.text())) return;
    complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(hub.url)) complaints.push(`asked for ${request.url()}`);
  });
  return { context, page, complaints };
}

/** Signs up on the page, and gives the MCP key that it shows. */
export async function signUp(page: Page, email: string, password: string): Promise<string> {
  await page.goto('/signup');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Account created.').waitFor();
  const key = /[0-9a-f]{64}/.exec((await page.textContent('main')) ?? '')?.[0];
  if (key === undefined) throw new Error('no key is shown after the sign-up');
  return key;
}
