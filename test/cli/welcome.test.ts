/** What a person at a terminal reads when the hub starts, and that a pipe gets JSON. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { CAIRN, cleanEnvironment } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Starts the service, waits until its output has `last`, stops it; what it wrote. */
async function outputUntil(last: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [CAIRN, 'serve'], { env: cleanEnvironment({ CAIRN_PORT: '0', ...env }) });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`it ended: ${output}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes(last)) resolve();
    });
  });
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  return output;
}

test('[OPS-19] as text, a start names address, data folder and what to do next', async () => {
  const folder = temporaryFolder();
  const text = await outputUntil('listening', { CAIRN_DATA: folder, CAIRN_LOG_FORMAT: 'text' });
  expect(text).toMatch(/^Cairn \S+ is running at http:\/\/127\.0\.0\.1:\d+$/m);
  expect(text).toContain(`Data:  ${folder}\n`);
  expect(text).toMatch(/^Next: {2}open http:\/\/127\.0\.0\.1:\d+\/signup, or run `cairn account create --email/m);
  expect(text).toMatch(/^Help: {2}http:\/\/127\.0\.0\.1:\d+\/help, or `cairn help`$/m);
  expect(text).toMatch(/^\d\d:\d\d:\d\d listening .*port=\d+/m);
});

test('[OPS-19] to a pipe, every line is JSON', async () => {
  const text = await outputUntil('"listening"', { CAIRN_DATA: temporaryFolder() });
  for (const line of text.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  expect(text).toContain('this hub has no account yet: open http://127.0.0.1:');
});
