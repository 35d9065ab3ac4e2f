/** cairn demo: it shows a hub that works, and leaves nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { beginning, session } from '../../../src/cli/demo/story.ts';
import { runCairn } from '../../support/hub.ts';
import { PageClient } from '../../support/page-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CAIRN = new URL('../../../dist/src/cli/cairn.js', import.meta.url).pathname;

/** Starts the command and reads what it prints up to a line. */
function started(folder: string, ...args: string[]) {
  // A setting of the shell is of another hub.
  const env = { ...process.env, TMPDIR: folder, CAIRN_DATA: join(folder, 'other'), CAIRN_PORT: '1' };
  const child = spawn(process.execPath, [CAIRN, 'demo', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const gone = once(child, 'exit');
  const until = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = lines.map((line) => pattern.exec(line)?.[1]).find((one) => one !== undefined);
      if (found !== undefined) return found;
      if (child.exitCode !== null) throw new Error(`the demo ended: ${lines.join('\n')}`);
      await Promise.race([once(reader, 'line'), gone]);
    }
  };
  return { child, lines, until, gone };
}

test('[CLI-8] a demo makes a hub, an account to sign in to and an agent that works, and leaves nothing', async () => {
  const folder = temporaryFolder();
  const { child, lines, until, gone } = started(folder, '--pause', '0');
  const url = (await until(/^Open\s+(\S+)\/signin$/)).trim();
  const password = await until(/^Password\s+(\S+)$/);
  await until(/(The agent has finished)/);
  expect(lines.filter((line) => line.startsWith('  claude-code '))).toHaveLength(session('2026-11-26').length);
  const client = new PageClient({ url });
  await client.open('/signin');
  await client.submit('/signin', { email: 'mina@example.org', password });
  await client.open('/tasks');
  expect(client.text).toContain('Move the certificates to the new host');
  expect(client.text).toContain('Read the draft of the announcement');
  await client.open('/activity');
  expect(client.text).toContain('claude-code');
  await client.open('/');
  expect(client.text).toMatch(/1 conflict/);
  child.kill('SIGINT');
  const [code] = (await gone) as [number];
  expect([code, readdirSync(folder), existsSync(join(folder, 'other'))]).toEqual([0, [], false]);
}, 120_000);

// SIGHUP: its terminal was closed, and the hub, which only opens its files again then, goes on without the demo.
test.each(['SIGTERM', 'SIGHUP'] as const)(
  '[CLI-8] a demo that %s ends while it works leaves nothing either',
  async (signal) => {
    const folder = temporaryFolder();
    const { child, until, gone } = started(folder, '--pause', '60');
    await until(/^(Password)/);
    child.kill(signal);
    const [code] = (await gone) as [number];
    expect([code, readdirSync(folder)]).toEqual([0, []]);
  },
  120_000,
);

test('[CLI-8] every day of the story counts from today', () => {
  const days = (today: string) => JSON.stringify([beginning(today), session(today)]).match(/\d{4}-\d\d-\d\d/g) ?? [];
  expect(days('2026-12-31').length).toBeGreaterThan(8);
  expect(days('2026-12-31').map((one) => Date.parse(one) - Date.parse('2026-12-31'))).toEqual(
    days('2024-02-28').map((one) => Date.parse(one) - Date.parse('2024-02-28')),
  );
});

test('[CLI-8] the news are of the newest version only', async () => {
  const { stdout, code } = await runCairn(['news'], {});
  expect([code, stdout.match(/^## /gmu)?.length]).toEqual([0, 1]);
  expect(stdout).toMatch(/^## \d+\.\d+\.\d+/u);
});
