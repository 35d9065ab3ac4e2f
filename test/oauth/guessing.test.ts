/** Guessing and floods: wrong user codes per account, codes asked for and tokens tried per address. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { askDevice, CLIENT, poll, postForm, refresh, refusalOf, signInDevice } from '../support/oauth.ts';

let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(() => hub.stop());

// As commands of 1.0.0 named it.
const answer = (code: string, email: string) => hub.cli('device', 'approve', code, '--account', email);

test('[OAUTH-1] five wrong user codes, and the account is told to wait, even for a right one; another account is not', async () => {
  const [guesser, other] = [await account(hub), await account(hub)];
  const codes = await askDevice(hub);
  for (const wrong of ['BCDF-GHJK', 'bcdf', 'AEIO-UAEI', '', `${codes.user_code}B`]) {
    expect(await answer(wrong, guesser.email)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no device is waiting with this code'),
    });
  }
  expect(await answer(codes.user_code, guesser.email)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/too many calls; try again in \d+ s/),
  });
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'authorization_pending']);
  expect((await answer(codes.user_code, other.email)).code).toBe(0);
});

test('[OAUTH-1] approving takes an account that is there and a code', async () => {
  const { user_code: code } = await askDevice(hub);
  expect((await answer(code, 'nobody@example.org')).code).toBe(1);
  expect((await hub.cli('device', 'approve', code)).code).toBe(2);
  expect((await hub.cli('device', 'approve', '--account', 'you@example.org')).code).toBe(2);
  expect((await hub.cli('device', 'forget', code, '--account', 'you@example.org')).code).toBe(2);
});

test('[LIM-1, OAUTH-1] a flood is 429 with Retry-After in the form of OAuth: codes asked for, tokens tried', async () => {
  const limited = await startHub({ env: { CAIRN_SIGNIN_LIMIT: '3' } });
  try {
    const owner = await account(limited);
    const tokens = await signInDevice(limited, owner);
    await askDevice(limited);
    await askDevice(limited);
    const flooded = await postForm(limited, '/oauth/device_authorization', { client_id: CLIENT });
    expect([...refusalOf(flooded), flooded.headers['retry-after']]).toEqual([
      429,
      'temporarily_unavailable',
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    for (let tries = 0; tries < 3; tries += 1) {
      expect(refusalOf(await refresh(limited, 'crt_x'))).toEqual([400, 'invalid_grant']);
    }
    const tried = await refresh(limited, 'crt_x');
    expect([...refusalOf(tried), tried.headers['retry-after']]).toEqual([
      429,
      'temporarily_unavailable',
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    // Whoever has a token is not held up by one who guesses.
    expect((await refresh(limited, tokens.refresh_token)).status).toBe(200);
  } finally {
    await limited.stop();
  }
});
