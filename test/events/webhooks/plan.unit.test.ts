/** What is signed, when the next try is, and when a webhook is turned off. */
import { expect, test } from 'vitest';
import { afterTry, pauseMs, secretText, signatures, waitMs } from '../../../src/events/webhooks/plan.ts';
import { addressFault } from '../../../src/events/webhooks/post.ts';
import type { WebhookRecord } from '../../../src/events/webhooks/records.ts';
import { limits } from '../../../src/limits/service.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const DAY_MS = 86_400_000;
const position = { records: 7, backups: 0, vaults: {} };
const fresh: WebhookRecord = {
  url: 'https://hooks.example.org/',
  kinds: null,
  secret: new Uint8Array(),
  former: null,
  created_ms: NOW,
  disabled: null,
  position: { records: 6, backups: 0, vaults: {} },
  tries: 0,
  failing_since_ms: null,
  next_ms: 0,
  deliveries: [],
};
const delivery = { message: 'wh_1.r.7', kind: 'task', act: 'created', thing: 'cairn://tasks/1' } as const;
const tried = (record: WebhookRecord, status: number | null, error: string | null, nowMs = NOW) =>
  afterTry(record, { delivery, outcome: { status, error }, position, nowMs, random: 0.5 });

test('[EVENT-3] a signature is that of Standard Webhooks, one for each secret that is valid', () => {
  // The example of the specification of Standard Webhooks.
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1_614_265_330, body: '{"test": 2432232314}' };
  expect(signatures([secret], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  expect(signatures([secret, Buffer.from('old')], message).split(' ')).toHaveLength(2);
  expect(secretText(secret)).toBe('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
});

test('[EVENT-3] pauses grow up to a longest, a fifth more or less, whatever the clock did', () => {
  const pauses = limits.webhookPausesMs;
  for (const [at, pause] of [...pauses, pauses.at(-1) ?? 0].entries()) {
    expect([pauseMs(at + 1, 0), pauseMs(at + 1, 1)]).toEqual([pause * 0.8, pause * 1.2]);
  }
  expect(waitMs({ ...fresh, next_ms: NOW + 1000 }, NOW)).toBe(1000);
  expect(waitMs({ ...fresh, next_ms: NOW - 1000 }, NOW)).toBe(0);
  expect(waitMs({ ...fresh, next_ms: NOW + 400 * DAY_MS }, NOW)).toBe((pauses.at(-1) ?? 0) * 1.2);
});

test('[EVENT-3] a taken event moves the position; one that fails for days, or a 410, turns the webhook off', () => {
  expect(tried(fresh, 204, null)).toMatchObject({ position, tries: 0, failing_since_ms: null, disabled: null });
  const once = tried(fresh, 500, 'it answered 500');
  expect(once).toMatchObject({ position: fresh.position, tries: 1, failing_since_ms: NOW, disabled: null });
  const atLast = tried(once, 500, 'it answered 500', NOW + limits.webhookFailDays * DAY_MS - 1);
  expect(atLast).toMatchObject({ tries: 2, failing_since_ms: NOW, disabled: null });
  const over = tried(atLast, null, 'it is gone', NOW + limits.webhookFailDays * DAY_MS);
  expect(over.disabled).toContain('it is gone');
  expect(over.position).toEqual(fresh.position);
  expect(tried(fresh, 410, 'it answered 410').disabled).toContain('410');
  expect(tried(atLast, 200, null)).toMatchObject({ tries: 0, failing_since_ms: null, next_ms: 0 });
  const many = Array.from({ length: limits.webhookDeliveriesKept + 5 }).reduce<WebhookRecord>(
    (record) => tried(record, 200, null),
    fresh,
  );
  expect(many.deliveries).toHaveLength(limits.webhookDeliveriesKept);
});

test.each([
  ['https://hooks.example.org/cairn?token=1', true, true],
  ['https://93.184.216.34:8443/', true, true],
  ['http://hooks.example.com/', false, true],
  ['https://localhost/', false, true],
  ['https://127.0.0.1/', false, true],
  ['https://[::1]/', false, true],
  ['https://[::ffff:10.0.0.1]/', false, true],
  ['https://10.1.2.3/', false, true],
  ['https://169.254.169.254/latest/meta-data', false, true],
  ['https://2130706433/', false, true],
  ['https://0x7f.1/', false, true],
  ['https://metadata.internal/', false, true],
  ['https://user:secret@hooks.example.com/', false, false],
  ['https://hooks.example.com/#part', false, false],
  ['ftp://hooks.example.com/', false, false],
  ['file:///etc/passwd', false, false],
  ['hooks.example.com', false, false],
])('[EVENT-3] %s: public %s, private %s', (url, isPublic, isPrivate) => {
  const accepted = (reach: 'public' | 'private') =>
    addressFault(url.replace('example.org', 'example.com'), reach) === undefined;
  expect([accepted('public'), accepted('private')]).toEqual([isPublic, isPrivate]);
});
