/** Mail over a real SMTP server: a forgotten password, the notice of a new sign-in, and what is sent when nothing can be. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { PageClient, signedUp } from '../support/page-client.ts';
import { refusedStart } from '../support/refused-start.ts';

const letters: string[] = [];
const recipients: string[] = [];
/** How many letters the server still turns away before it takes one. */
let turnedAway = 0;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onAuth: ({ username, password }, _session, done) =>
    username === 'cairn' && password === 'a mail secret' ? done(null, { user: 'cairn' }) : done(new Error('no')),
  onRcptTo({ address }, _session, done) {
    recipients.push(address);
    done();
  },
  onData(stream, _session, done) {
    let text = '';
    stream.on('data', (part: Buffer) => {
      text += part.toString('utf8');
    });
    stream.on('end', () => {
      if (turnedAway > 0) {
        turnedAway -= 1;
        done(Object.assign(new Error('try later'), { responseCode: 451 }));
        return;
      }
      letters.push(text.replace(/=\r\n/g, '').replace(/=3D/g, '='));
      done();
    });
  },
});

let hub: Hub;
const PUBLIC = 'http://hub.example.org';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  hub = await startHub({
    env: {
      CAIRN_SMTP_URL: `smtp://cairn:a%20mail%20secret@127.0.0.1:${port}`,
      CAIRN_PUBLIC_URL: PUBLIC,
      CAIRN_SIGNUP: 'open',
    },
  });
});

afterAll(async () => {
  expect(JSON.stringify(hub.logs)).not.toContain('a mail secret');
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

/** The next letter to an address that has these words. */
async function letterTo(email: string, words: string): Promise<string> {
  for (;;) {
    const found = letters.findIndex((letter) => letter.includes(`To: ${email}`) && letter.includes(words));
    if (found >= 0) return letters.splice(found, 1)[0] ?? '';
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function forgot(email: string): Promise<{ readonly status: number; readonly text: string }> {
  const client = new PageClient(hub);
  await client.open('/forgot');
  const { status } = await client.submit('/forgot', { email });
  return { status, text: client.text };
}

const tokenIn = (letter: string) => /reset\?token=(acc_[0-9a-f]{24}\.[A-Za-z0-9_-]{43})/.exec(letter)?.[1] ?? '';

test('[AUTH-4] a forgotten password is reset by a link that works once and signs out everywhere', async () => {
  const email = 'forgetful@example.org';
  const before = await signedUp(hub, email, PASSWORD);
  await before.open('/signin');
  expect((await forgot(email)).status).toBe(200);
  const letter = await letterTo(email, 'Reset your Cairn password');
  expect(letter).toContain(`${PUBLIC}/reset?token=`);
  const token = tokenIn(letter);
  const client = new PageClient(hub);
  await client.open(`/reset?token=${token}`);
  expect((await client.submit('/reset', { password: 'short' })).status).toBe(422);
  const next = 'another long password';
  await client.submit('/reset', { password: next });
  expect(client.text).toContain('Password changed');
  expect((await before.send('/settings')).status).toBe(303);
  expect((await client.open(`/reset?token=${token}`)).status).toBe(404);
  await client.open('/signin');
  await client.submit('/signin', { email, password: next });
  await client.open('/settings');
  expect(client.text).toContain('Password changed reset by mail');
  expect(JSON.stringify(hub.logs)).not.toContain(token.split('.')[1]);
});

test('[AUTH-4] asking answers alike whether there is an account or not; a newer link replaces the earlier one', async () => {
  const email = 'known@example.org';
  const owner = await signedUp(hub, email, PASSWORD);
  const [known, unknown] = [await forgot(email), await forgot('nobody@example.org')];
  expect(known).toEqual(unknown);
  const first = tokenIn(await letterTo(email, 'Reset'));
  await forgot(email);
  const second = tokenIn(await letterTo(email, 'Reset'));
  const client = new PageClient(hub);
  expect((await client.open(`/reset?token=${first}`)).status).toBe(404);
  expect((await client.open(`/reset?token=${second}`)).status).toBe(200);
  for (const wrong of ['', 'x', `${second}x`, second.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
    expect((await client.open(`/reset?token=${encodeURIComponent(wrong)}`)).status).toBe(404);
  }
  expect(letters.some((letter) => letter.includes('nobody@example.org'))).toBe(false);
  await owner.open('/settings');
  await owner.submit('/settings/password', { current_password: PASSWORD, password: 'another battery' });
  expect(owner.text).toContain('Password changed.');
  // Whoever could read a letter of before the change cannot undo it.
  expect((await client.open(`/reset?token=${second}`)).status).toBe(404);
});

test('[AUTH-4] an email that reads like a list of recipients brings nobody a letter of somebody else', async () => {
  for (const email of [
    'x,victim@example.org',
    'x;victim@example.org',
    '"x"<victim@example.org>',
    'x<victim@example.org',
  ]) {
    await signedUp(hub, email, PASSWORD);
    await forgot(email);
  }
  // Letters leave one after another, so this one says that the others have.
  await signedUp(hub, 'last@example.org', PASSWORD);
  await forgot('last@example.org');
  await letterTo('last@example.org', 'Reset');
  expect(recipients).not.toContain('victim@example.org');
});

test('[AUTH-4] a sign-in from a new browser is told by mail, one from a known browser is not', async () => {
  const email = 'told@example.org';
  const known = await signedUp(hub, email, PASSWORD);
  await known.open('/settings');
  const signIn = async (client: PageClient) => {
    await client.open('/signin');
    await client.submit('/signin', { email, password: PASSWORD });
    await client.open('/settings');
  };
  await known.submit('/signout');
  await signIn(known);
  await signIn(new PageClient(hub, { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' }));
  const letter = await letterTo(email, 'New sign-in');
  expect(letter).toContain('Firefox on Linux');
  expect(letters.filter((one) => one.includes(email))).toEqual([]);
});

test('[AUTH-4] a letter that the server turns away for now is sent again', async () => {
  const email = 'later@example.org';
  await signedUp(hub, email, PASSWORD);
  turnedAway = 1;
  await forgot(email);
  expect(tokenIn(await letterTo(email, 'Reset'))).not.toBe('');
});

test('[AUTH-4] without a mail server nothing is offered; with one that is down every answer comes as ever', async () => {
  const without = await startHub();
  const dead = await startHub({
    env: { CAIRN_SMTP_URL: 'smtp://127.0.0.1:1', CAIRN_PUBLIC_URL: PUBLIC, CAIRN_SIGNUP: 'open' },
  });
  try {
    const client = new PageClient(without);
    await client.open('/signin');
    expect(client.html).not.toContain('/forgot');
    expect((await client.open('/forgot')).status).toBe(404);
    const email = 'patient@example.org';
    await signedUp(dead, email, PASSWORD);
    const asking = new PageClient(dead);
    await asking.open('/forgot');
    expect((await asking.submit('/forgot', { email })).status).toBe(200);
    await dead.waitForLog((line) => String(line['msg']).startsWith('a mail could not be sent'));
    expect(JSON.stringify(dead.logs)).not.toContain(email);
    expect(await dead.stop()).toBe(0);
  } finally {
    await without.stop();
    await dead.kill();
  }
});

test('[AUTH-4] a mail server off this machine without a certificate that holds gets no letter', async () => {
  const secured = new SMTPServer({ authOptional: true, secure: true });
  // The client turned away from its certificate.
  secured.on('error', () => undefined);
  await new Promise<void>((resolve) => secured.listen(0, '127.0.0.1', resolve));
  const { port } = secured.server.address() as AddressInfo;
  const own = await startHub({
    env: { CAIRN_SMTP_URL: `smtps://127.0.0.1:${port}`, CAIRN_PUBLIC_URL: PUBLIC, CAIRN_SIGNUP: 'open' },
  });
  try {
    await signedUp(own, 'tls@example.org', PASSWORD);
    const asking = new PageClient(own);
    await asking.open('/forgot');
    await asking.submit('/forgot', { email: 'tls@example.org' });
    await own.waitForLog((line) => String(line['msg']).startsWith('a mail could not be sent'));
  } finally {
    await own.stop();
    await new Promise<void>((resolve) => secured.close(() => resolve()));
  }
});

test('[AUTH-4, OPS-1] a mail setting that could not work stops the start with a sentence that names it', async () => {
  for (const [env, named] of [
    [{ CAIRN_SMTP_URL: 'http://mail.example.org' }, 'CAIRN_SMTP_URL'],
    [{ CAIRN_SMTP_URL: 'smtp://127.0.0.1' }, 'CAIRN_PUBLIC_URL'],
    [{ CAIRN_MAIL_FROM: 'hub@example.org' }, 'CAIRN_SMTP_URL'],
  ] as const) {
    const { code, stderr } = await refusedStart(env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(named)]);
  }
});

test('[ONB-4] an invitation for an address is mailed to it, and opens the sign-up page', async () => {
  const email = 'invited@example.org';
  const made = await hub.cli('invite', 'create', '--email', email, '--json');
  const { link, mailed, code } = JSON.parse(made.stdout) as { link: string; mailed: boolean; code: string };
  expect([made.code, mailed]).toEqual([0, true]);
  const letter = await letterTo(email, 'Your invitation');
  expect(letter).toContain(`${PUBLIC}/signup?invite=${code}`);
  expect(link).toBe(`${PUBLIC}/signup?invite=${code}`);
  const client = new PageClient(hub);
  expect((await client.open(`/signup?invite=${code}`)).status).toBe(200);
  const anyone = await hub.cli('invite', 'create', '--json');
  expect(JSON.parse(anyone.stdout)).toMatchObject({ mailed: false });
});

test('[ONB-4, WEB-3] an invitation that an operator makes on the page is mailed too, and only one for an address', async () => {
  const client = await signedUp(hub, 'boss@example.org', PASSWORD);
  await hub.cli('account', 'operator', '--email', 'boss@example.org');
  await client.open('/accounts');
  await client.submit('/accounts/invitations', { email: 'page@example.org' });
  expect(client.text).toContain('mailed to page@example.org');
  const [link = 'none'] = /http[^ ]*\/signup\?invite=[\w.-]+/.exec(client.text) ?? [];
  expect(await letterTo('page@example.org', 'Your invitation')).toContain(link);
  await client.submit('/accounts/invitations', {});
  expect(client.text).not.toContain('mailed');
});

test('[ONB-4] an invitation whose letter cannot be sent is made all the same, and the command says so', async () => {
  turnedAway = 1;
  const made = await hub.cli('invite', 'create', '--email', 'late@example.org');
  turnedAway = 0;
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('did not accept the message')]);
  expect(made.stdout).toContain(`${PUBLIC}/signup?invite=`);
  expect(made.stdout + made.stderr).not.toContain('a mail secret');
});
