/** A log that nobody reads, or nobody reads fast enough, delays neither service nor stop. */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { CAIRN, cleanEnvironment } from '../support/hub.ts';
import { scrape } from '../support/metrics.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const TOKEN = 'metrics-token-of-a-test';
let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill('SIGKILL');
});

/** A hub whose log goes into a pipe that this test reads as far as `listening`, and then no more. */
async function unread(): Promise<{ readonly url: string; readonly exited: Promise<number | null> }> {
  const hub = spawn(process.execPath, [CAIRN, 'serve'], {
    env: cleanEnvironment({
      CAIRN_PORT: '0',
      CAIRN_DATA: temporaryFolder(),
      CAIRN_METRICS_TOKEN: TOKEN,
      CAIRN_RATE_LIMIT: '0',
      CAIRN_LOOP_DELAY_MS: '0',
    }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child = hub;
  const exited = new Promise<number | null>((resolve) => hub.once('exit', (code) => resolve(code)));
  let text = '';
  const port = await new Promise<number>((resolve) => {
    hub.stdout.on('data', (part: Buffer) => {
      text += part.toString('utf8');
      const found = /"port":(\d+).*"listening"/.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  hub.stdout.removeAllListeners('data');
  hub.stdout.pause();
  return { url: `http://127.0.0.1:${port}`, exited };
}

const dropped = async (url: string): Promise<number> =>
  (await scrape(url, { Authorization: `Bearer ${TOKEN}` })).sum('cairn_log_lines_dropped_total');

/** Requests that leave a line each. */
async function chatter(url: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 50) {
    const paths = Array.from({ length: 50 }, (_, index) => `/none/${at + index}`);
    const answers = await Promise.all(paths.map((path) => call({ url }, path)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  }
}

test('[OPS-4] [OPS-3] a hub whose log has lost its reader goes on, counts what it drops, and stops', async () => {
  const { url, exited } = await unread();
  child?.stdout?.destroy();
  await chatter(url, 200);
  expect(await dropped(url)).toBeGreaterThan(100);
  child?.kill('SIGTERM');
  expect(await exited).toBe(0);
});

test('[OPS-4] [OPS-3] a hub whose log is not read any more goes on and stops', async () => {
  const { url, exited } = await unread();
  // Lines of more bytes than a pipe and this process's own buffer hold.
  await chatter(url, 1500);
  expect((await call({ url }, '/health')).status).toBe(200);
  child?.kill('SIGTERM');
  expect(await exited).toBe(0);
});
