/** The queue of letters, over a real SMTP server. */
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { expect, test } from 'vitest';
import { Mailer } from '../../src/mail/mailer.ts';

test('[AUTH-4] a stop says how many letters it drops, and nothing else of them', async () => {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      stream.resume();
      stream.on('end', () => done(Object.assign(new Error('try later'), { responseCode: 451 })));
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  let logged = '';
  let tried: () => void = () => undefined;
  const isTried = new Promise<void>((resolve) => {
    tried = resolve;
  });
  const log = pino(
    {},
    {
      write: (line: string) => {
        logged += line;
        if (line.includes('trying again')) tried();
      },
    },
  );
  const mailer = new Mailer({ url: `smtp://127.0.0.1:${port}`, from: 'cairn@example.org', log });
  for (const name of ['one', 'two', 'three']) {
    mailer.send({ to: `${name}@example.org`, subject: 'A subject', text: 'A text' });
  }
  await isTried;
  await mailer.close();
  server.close();
  expect(logged).toMatch(/"letters":2,"msg":"the hub stops; letters that waited to be sent were dropped"/);
  expect(logged).toContain('a mail could not be sent and was dropped');
  expect(logged).not.toMatch(/example\.org|A subject|A text/);
});
