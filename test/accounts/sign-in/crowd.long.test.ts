/** A whole IPv6 network guesses the password of an account, behind a proxy: its owner signs in on a new machine all the same. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mirrorTool, PASSWORD } from '../../support/gateway.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({
  env: { CAIRN_SIGNIN_LIMIT: '10', CAIRN_RATE_LIMIT: '600', CAIRN_TRUSTED_PROXIES: '127.0.0.1', CAIRN_SIGNUP: 'open' },
});
const EMAIL = 'owner@example.org';

const signIn = async (address: string, password: string) => {
  const args = { email: EMAIL, password };
  return (await mirrorTool(hub, 'login_and_get_key', args, { 'X-Forwarded-For': address })).status;
};

test('[LIM-4, AUTH-1] while a /48 guesses without a pause, the right password from elsewhere is accepted each time', async () => {
  const made = await mirrorTool(hub, 'signup_and_get_key', { email: EMAIL, password: PASSWORD }, {});
  expect(made.status).toBe(200);
  let isOver = false;
  const seen = new Map<number, number>();
  /** Each guesser takes another /64 of the site for each try. */
  const guess = async (guesser: number) => {
    for (let n = 0; !isOver; n += 1) {
      const status = await signIn(`2001:db8:a:${(guesser * 4096 + (n % 4096)).toString(16)}::1`, 'a wrong password');
      seen.set(status, (seen.get(status) ?? 0) + 1);
      // A refusal comes at once; the guessers leave this machine some time for others.
      if (status === 429) await setTimeout(50);
    }
  };
  const guessers = Array.from({ length: 16 }, (_, guesser) => guess(guesser));
  try {
    // The owner comes when the site has used up what it may guess.
    await expect.poll(() => seen.get(429) ?? 0, { timeout: 30_000 }).toBeGreaterThan(0);
    for (let n = 0; n < 2; n += 1) expect([n, await signIn(`198.51.100.${n}`, PASSWORD)]).toEqual([n, 200]);
  } finally {
    isOver = true;
    await Promise.all(guessers);
  }
  // Four times what one /64 has, in ten minutes.
  expect(seen.get(401) ?? 0).toBeLessThanOrEqual(40);
  expect(seen.get(429) ?? 0).toBeGreaterThan(0);
  expect(seen.get(200)).toBeUndefined();
});
