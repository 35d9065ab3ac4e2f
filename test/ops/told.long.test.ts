/** The operators of a hub are told what changed: by letter, and at CAIRN_NOTIFY_URL; once, also across restarts. */
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';

const HOUR = 3_600_000;
const WAIT_MS = 100_000;

const letters: { readonly to: readonly string[]; readonly text: string }[] = [];
const notices: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, { envelope }, done) {
    let text = '';
    stream.on('data', (part: Buffer) => {
      text += part.toString('utf8');
    });
    stream.on('end', () => {
      letters.push({ to: envelope.rcptTo.map(({ address }) => address), text: text.replace(/=\r\n/g, '') });
      done();
    });
  },
});
const web = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    notices.push({ headers: request.headers, body });
    response.end('ok');
  });
});
let env: Record<string, string> = {};

beforeAll(async () => {
  await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  env = {
    CAIRN_SMTP_URL: `smtp://127.0.0.1:${(mail.server.address() as AddressInfo).port}`,
    CAIRN_NOTIFY_URL: `http://127.0.0.1:${(web.address() as AddressInfo).port}/a-secret-topic`,
    CAIRN_PUBLIC_URL: 'http://hub.example.org',
  };
});

afterAll(async () => {
  await new Promise<void>((resolve) => mail.close(() => resolve()));
  await new Promise((resolve) => web.close(resolve));
});

/** Notes of a backup as old as this. */
function backedUp({ dataFolder }: Hub, hoursAgo: number): void {
  const done = { at_ms: Date.now() - hoursAgo * HOUR, problems: 0 };
  writeFileSync(join(dataFolder, 'last-backup'), JSON.stringify(done));
}

const titles = () => notices.map(({ headers }) => headers['title']);
const comes = async (what: string, count: number) => {
  await until(
    what,
    () => Promise.resolve(notices.length >= count && letters.length >= count ? true : undefined),
    WAIT_MS,
  );
};

test('[OPS-28] operators hear of a late backup once, not again after a restart, and when it is over; and of a follow that ended', async () => {
  const first = await startHub({ env });
  await account(first, 'operator@example.org');
  await account(first, 'person@example.org');
  backedUp(first, 49);
  await comes('the backup is late', 1);
  expect(notices).toEqual([
    {
      headers: expect.objectContaining({ title: 'Cairn on hub.example.org: Backup late', priority: 'high' }),
      body: expect.stringMatching(/^The last backup is too old\. Run `cairn backup DIR`.* Since 2\S+Z\.$/),
    },
  ]);
  expect(letters).toEqual([
    { to: ['operator@example.org'], text: expect.stringContaining('Subject: Cairn on hub.example.org: Backup late') },
  ]);
  expect(await first.stop()).toBe(0);

  const second = await startHub({ dataFolder: first.dataFolder, env });
  // Something else is told first, so that what is not told again had its turn.
  const old = { at_ms: Date.now() - 36 * 24 * HOUR, problems: 0 };
  writeFileSync(join(second.dataFolder, 'last-verify'), JSON.stringify(old));
  await comes('the verification is late', 2);
  backedUp(second, 1);
  const silent = { at_ms: Date.now() - HOUR, every_ms: 5000, copying_all: false };
  writeFileSync(join(second.dataFolder, 'last-follow'), JSON.stringify(silent));
  await comes('the backup is made, and follow is not started again', 4);
  expect(new Set(titles().slice(1))).toEqual(
    new Set([
      'Cairn on hub.example.org: Verification late',
      'Cairn on hub.example.org: over: Backup late',
      'Cairn on hub.example.org: Continuous backup behind',
    ]),
  );
  await second.stop();
  for (const hub of [first, second]) {
    expect(JSON.stringify(hub.logs)).not.toContain('a-secret-topic');
    expect(hub.logs.filter(({ condition }) => condition === 'backup_late')).toHaveLength(1);
  }
}, 240_000);
