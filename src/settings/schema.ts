/** Defines every setting of the service: a CAIRN_* variable with its check and default. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import { isTimeZone } from '../time/zone.ts';

const defaultBlockedAgents: readonly string[] = [
  'curl/',
  'Wget/',
  'HTTPie/',
  'xh/',
  'aria2/',
  'python-requests/',
  'Python-urllib/',
  'Go-http-client/',
  'Java/',
  'libwww-perl/',
  'lwp-request/',
  'PycURL/',
  'Ruby',
  'Faraday',
  'rest-client/',
  'http.rb/',
  'httpx.rb/',
  'HTTPClient/',
  'HTTParty',
  'Typhoeus',
  'excon/',
  'Mechanize/',
];

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
const seconds = wholeNumber(1, limits.settingSecondsMax);
const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');
const onOff = z.enum(['on', 'off'], { error: 'must be on or off' });
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Values of CAIRN_SIGNUP other than domains. */
const SIGNUP_WORDS: ReadonlySet<string> = new Set(['open', 'invite', 'closed']);

/** Settings that are never shown: secrets, what contains one, and CAIRN_MAIL_FROM, which is refused without CAIRN_SMTP_URL. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  'CAIRN_MASTER_KEY',
  'CAIRN_METRICS_TOKEN',
  'CAIRN_SMTP_URL',
  'CAIRN_MAIL_FROM',
  'CAIRN_NOTIFY_URL',
  'CAIRN_LOG',
  'CAIRN_LOG_RECIPIENT',
  'CAIRN_LOG_IDENTITY',
]);

export const settings = z.object({
  CAIRN_PORT: wholeNumber(0, 65535).default(8787),
  CAIRN_HOST: z.string().min(1, 'must not be empty').default('127.0.0.1'),
  CAIRN_DATA: z.string().min(1, 'must not be empty').default('./data'),
  CAIRN_MAP_BYTES: wholeNumber(limits.mapBytesMin, 2 ** 46).default(limits.mapBytes),
  CAIRN_MASTER_KEY: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex characters')
    .optional(),
  CAIRN_LOG: z
    .string()
    .regex(/^(file|s3|postgres|postgresql):\/\/./, 'must begin with s3://, postgres:// or file:///')
    .optional(),
  CAIRN_LOG_ACK: z.enum(['log', 'local'], { error: 'must be log or local' }).default('log'),
  CAIRN_LOG_RECIPIENT: z.string().optional(),
  CAIRN_LOG_IDENTITY: z.string().optional(),
  CAIRN_MEMBER: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be a name of letters, digits, dots, hyphens and underscores')
    .optional(),
  CAIRN_MEMBER_PRIORITY: wholeNumber(0, 3600).default(0),
  CAIRN_LEASE_SECONDS: wholeNumber(1, 600).default(10),
  CAIRN_LOG_KEEP_DAYS: wholeNumber(1, 3650).default(7),
  CAIRN_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be one of debug, info, warn, error, fatal, silent',
    })
    .default('info'),
  CAIRN_LOG_FORMAT: z.enum(['json', 'text'], { error: 'must be json or text' }).optional(),
  CAIRN_ACCESS_LOG: z.string().min(1, 'must not be empty').optional(),
  CAIRN_SLOW_MS: wholeNumber(0, 86_400_000).default(0),
  CAIRN_BLOCKED_AGENTS: list.default([...defaultBlockedAgents]),
  CAIRN_ALLOW_MISSING_AGENT: flag.default(false),
  CAIRN_TLS_CERT: z.string().min(1, 'must not be empty').optional(),
  CAIRN_TLS_KEY: z.string().min(1, 'must not be empty').optional(),
  CAIRN_TRUSTED_PROXIES: list.default([]),
  CAIRN_ALLOWED_ORIGINS: list.default([]),
  CAIRN_UPGRADE_BACKUP: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  CAIRN_PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^\s/]+(\/[^\s]*)?$/, 'must be an http or https address')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional(),
  CAIRN_RATE_LIMIT: wholeNumber(0, 1_000_000).default(limits.callsPerMinuteDefault),
  CAIRN_ACCOUNT_RATE_LIMIT: wholeNumber(0, 1_000_000).optional(),
  CAIRN_SIGNIN_LIMIT: wholeNumber(0, 1_000_000).default(limits.signInsPerMinuteDefault),
  CAIRN_SIGNUP: list
    .refine((parts) => parts.length === 1 || !parts.some((part) => SIGNUP_WORDS.has(part.toLowerCase())), {
      error: 'must be one of open, invite and closed, or a comma-separated list of email domains',
    })
    .refine((parts) => parts.length > 0 && parts.every((part) => !/[\s@]/.test(part)), {
      error: 'must be open, invite, closed, or a comma-separated list of email domains',
    })
    .optional(),
  CAIRN_SIGNUPS_PER_DAY: wholeNumber(0, 1_000_000).default(limits.signUpsPerDayDefault),
  CAIRN_INFLIGHT_BYTES: wholeNumber(limits.inflightBytesMin, 2 ** 40).default(limits.inflightBytesDefault),
  CAIRN_SYNC_QUOTA_BYTES: wholeNumber(1, 2 ** 50).default(limits.syncQuotaBytesDefault),
  CAIRN_HISTORY_QUOTA_BYTES: wholeNumber(1, 2 ** 50).default(limits.historyQuotaBytesDefault),
  CAIRN_MIRROR_QUOTA_BYTES: wholeNumber(1, 2 ** 50).default(limits.mirrorQuotaBytesDefault),
  CAIRN_DOCUMENT_QUOTA_BYTES: wholeNumber(1, 2 ** 50).default(limits.documentQuotaBytesDefault),
  CAIRN_CONNECTIONS: wholeNumber(1, 1_000_000).default(limits.connectionsDefault),
  CAIRN_STREAMS: wholeNumber(1, 1_000_000).default(limits.streamsDefault),
  CAIRN_LOOP_DELAY_MS: wholeNumber(0, 60_000).default(limits.loopDelayMsDefault),
  CAIRN_BODY_SECONDS: seconds.default(limits.bodySecondsDefault),
  CAIRN_HANDLER_SECONDS: seconds.default(limits.handlerSecondsDefault),
  CAIRN_DRAIN_SECONDS: seconds.default(limits.drainSecondsDefault),
  CAIRN_PASSWORD_MIN: wholeNumber(limits.passwordBytesMin, 64).optional(),
  CAIRN_BREACHED_PASSWORDS: z.string().min(1, { error: 'must be the path of a file' }).optional(),
  CAIRN_REQUIRE_SECOND_FACTOR: z
    .enum(['off', 'operators', 'everybody'], { error: 'must be off, operators or everybody' })
    .default('off'),
  CAIRN_OAUTH_METADATA: onOff.default('on'),
  CAIRN_OAUTH_CLIENT_DOCUMENTS: z
    .enum(['public', 'private', 'off'], { error: 'must be public, private or off' })
    .default('public'),
  CAIRN_WEBHOOKS: z.enum(['public', 'private', 'off'], { error: 'must be public, private or off' }).default('public'),
  CAIRN_IDP_ISSUER: z
    .string()
    .refine((text) => URL.canParse(text) && isProviderAddress(new URL(text)), {
      error: 'must be the issuer URL of the identity provider (https, without a query)',
    })
    .optional(),
  CAIRN_IDP_AUDIENCE: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must have 1 to 255 characters without spaces')
    .optional(),
  CAIRN_SMTP_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol), {
      error: 'must look like smtps://user:password@mail.example.org or smtp://127.0.0.1:25',
    })
    .optional(),
  CAIRN_MAIL_FROM: z
    .string()
    .regex(/^[^\p{C}]{1,100}$/u, 'must be an email address, or a name and an address in angle brackets')
    .optional(),
  CAIRN_NOTIFY_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
      error: 'must be an http or https address',
    })
    .optional(),
  CAIRN_NOTIFY_FORMAT: z
    .enum(['text', 'slack', 'healthchecks'], { error: 'must be text, slack or healthchecks' })
    .optional(),
  CAIRN_BACKUP_HOURS: wholeNumber(1, 100_000).optional(),
  CAIRN_METRICS_PORT: wholeNumber(0, 65535).optional(),
  CAIRN_METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,256}$/, 'must be 16 to 256 visible ASCII characters')
    .optional(),
  CAIRN_HANDOFF_DAYS: wholeNumber(1, limits.handoffDaysMax).optional(),
  CAIRN_TIMEZONE: z.string().refine(isTimeZone, 'must be an IANA name such as Europe/Berlin').default('UTC'),
  CAIRN_STALL_SECONDS: seconds.default(limits.stallSecondsDefault),
  CAIRN_POOL_THREADS: wholeNumber(1, 64).default(Math.max(1, availableParallelism() - 1)),
});

/** Settings of earlier versions and why they no longer have an effect: a unit file may still set them. */
export const REMOVED_SETTINGS: Readonly<Record<string, string>> = {
  CAIRN_FRONTS: 'the reading threads were removed',
};

export type SettingName = keyof typeof settings.shape;

/** True for https, or http to this machine: anyone posing as the provider could open every linked account. */
function isProviderAddress({ protocol, hostname, search, hash, username }: URL): boolean {
  return search + hash + username === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)));
}

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|::1|\[::1\])$/i.test(host);
}
