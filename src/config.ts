/** Reads the environment, as the only module to do so. Every setting is a CAIRN_* variable, checked once, frozen. */
import { hostname, userInfo } from 'node:os';
import type { z } from 'zod';
import { clientSettingNames } from './client/settings.ts';
import { StartError } from './common/start-error.ts';
import { parse } from './fields/read.ts';
import { limits } from './limits/service.ts';
import { isLoopback, REMOVED_SETTINGS, SECRET_SETTINGS, settings } from './settings/schema.ts';
import { nearest } from './text/nearest.ts';

export interface Config {
  /** The settings that were given, as text and by name, without secrets. */
  readonly given: Readonly<Record<string, string>>;
  /** Names of the given settings that are secrets. */
  readonly givenSecrets: readonly string[];
  /** A warning for each given setting that no longer has an effect. */
  readonly warnings: readonly string[];
  readonly port: number;
  readonly host: string;
  readonly dataFolder: string;
  /** Maximum size of the data file: the address space of its memory map. */
  readonly mapBytes: number;
  /** True when upgrading an older data file first makes a backup. */
  readonly upgradeBackup: boolean;
  readonly masterKey: string | undefined;
  /** The log that this hub shares with other members; undefined: it has none. */
  readonly log: LogSettings | undefined;
  readonly logLevel: string;
  /** Undefined: text on a terminal, else JSON. */
  readonly logFormat: 'json' | 'text' | undefined;
  /** File for the access log; undefined: the log. */
  readonly accessLog: string | undefined;
  /** Requests slower than this many milliseconds are logged as warnings; 0: never. */
  readonly slowMs: number;
  readonly blockedAgents: readonly string[];
  readonly allowMissingAgent: boolean;
  /** PEM files; undefined: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  /** Per key; 0: unlimited. */
  readonly callsPerMinute: number;
  /** Per account, over all its keys; 0: unlimited. */
  readonly accountCallsPerMinute: number;
  readonly signInsPerMinute: number;
  /** `['open']`, `['invite']`, `['closed']`, or email domains. */
  readonly signup: readonly string[];
  /** True when no setting implies that other machines reach the service. */
  readonly isLocalOnly: boolean;
  /** New accounts per day without an invitation; 0: unlimited. */
  readonly signUpsPerDay: number;
  readonly inflightBytesMax: number;
  readonly syncQuotaBytes: number;
  readonly historyQuotaBytes: number;
  readonly mirrorQuotaBytes: number;
  readonly documentQuotaBytes: number;
  readonly connectionsMax: number;
  readonly streamsMax: number;
  /** 0: not checked. */
  readonly loopDelayMsMax: number;
  readonly bodySeconds: number;
  readonly handlerSeconds: number;
  readonly drainSeconds: number;
  /** Handoffs older than this are removed when they are listed; undefined: never. */
  readonly handoffDays: number | undefined;
  /** IANA name of the zone for accounts without one. */
  readonly timeZone: string;
  readonly stallSeconds: number;
  readonly poolThreads: number;
  /** True when the metadata documents for OAuth clients are served. */
  readonly oauthMetadata: boolean;
  /** Addresses from which metadata documents of OAuth clients may be fetched: public, also private, or none. */
  /** A file of breached passwords; undefined: none. */
  /** The least number of bytes of a new password. */
  readonly passwordBytesMin: number;
  readonly breachedPasswords: string | undefined;
  readonly requireSecondFactor: 'off' | 'operators' | 'everybody';
  readonly oauthClientDocuments: 'public' | 'private' | 'off';
  /** Addresses that webhooks may lead to: public, also private, or none. */
  readonly webhooks: 'public' | 'private' | 'off';
  /** Issuer whose tokens the gateway accepts for linked accounts, and their required audience; undefined: none. */
  readonly identityProvider: { readonly issuer: string; readonly audience: string } | undefined;
  /** Mail server and sender; undefined: no mail. */
  readonly mail: { readonly url: string; readonly from: string } | undefined;
  /** Where notices of conditions are sent, and in which format; undefined: the format follows from the address. */
  readonly notifyUrl: string | undefined;
  readonly notifyFormat: 'text' | 'slack' | 'healthchecks' | undefined;
  /** Maximum age of the newest backup, in hours; undefined: the default, and no backup is expected of a hub without one. */
  readonly backupHours: number | undefined;
  readonly metricsPort: number | undefined;
  /** Token required for metrics on the main port; undefined: not served there. */
  readonly metricsToken: string | undefined;
}

export interface LogSettings {
  readonly url: string;
  /** When a write is answered: after the log has it, or after the data file has it. */
  readonly ack: 'log' | 'local';
  /** Name of this member. */
  readonly member: string;
  /** Seconds that this member waits longer than others before it takes over. */
  readonly priority: number;
  readonly leaseSeconds: number;
  /** Each second of this many days can be restored from the log. */
  readonly keepDays: number;
}

/** True when browsers reach the service over TLS, directly or through a proxy. */
export function isSecure({ tls, publicUrl }: Pick<Config, 'tls' | 'publicUrl'>): boolean {
  return tls !== undefined || publicUrl?.startsWith('https:') === true;
}

/**
 * Reads the settings. Throws StartError with one sentence naming the first invalid setting, never its value. `ignore`
 * receives each variable that is no setting and resembles none; without it, such a variable is refused too.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env, ignore?: (name: string) => void): Config {
  const all = Object.entries(environment).filter(([name]) => name.startsWith('CAIRN_'));
  const given = Object.fromEntries(all.filter(([name]) => !(name in REMOVED_SETTINGS) && !isIgnored(name, ignore)));
  const parsed = parse(settings, given, 'environment', true);
  if ('errors' in parsed) throw new StartError(`${Object.values(parsed.errors)[0]?.[0]}.`);
  const values = parsed.value;
  return Object.freeze({
    given: shown(given),
    givenSecrets: Object.keys(given).filter((name) => SECRET_SETTINGS.has(name)),
    warnings: all.flatMap(([name]) => warningOf(name)),
    port: values.CAIRN_PORT,
    host: values.CAIRN_HOST,
    dataFolder: values.CAIRN_DATA,
    mapBytes: values.CAIRN_MAP_BYTES,
    upgradeBackup: values.CAIRN_UPGRADE_BACKUP === 'on',
    masterKey: values.CAIRN_MASTER_KEY,
    log: logOf(values),
    logLevel: values.CAIRN_LOG_LEVEL,
    logFormat: values.CAIRN_LOG_FORMAT,
    accessLog: values.CAIRN_ACCESS_LOG,
    slowMs: values.CAIRN_SLOW_MS,
    blockedAgents: values.CAIRN_BLOCKED_AGENTS,
    allowMissingAgent: values.CAIRN_ALLOW_MISSING_AGENT,
    tls: tlsFiles(values.CAIRN_TLS_CERT, values.CAIRN_TLS_KEY),
    trustedProxies: values.CAIRN_TRUSTED_PROXIES,
    allowedOrigins: values.CAIRN_ALLOWED_ORIGINS,
    publicUrl: values.CAIRN_PUBLIC_URL,
    callsPerMinute: values.CAIRN_RATE_LIMIT,
    accountCallsPerMinute: values.CAIRN_ACCOUNT_RATE_LIMIT ?? values.CAIRN_RATE_LIMIT * limits.accountCallsPerKey,
    signInsPerMinute: values.CAIRN_SIGNIN_LIMIT,
    signup: values.CAIRN_SIGNUP?.map((part) => part.toLowerCase()) ?? [isLocalOnly(values) ? 'open' : 'invite'],
    isLocalOnly: isLocalOnly(values),
    signUpsPerDay: values.CAIRN_SIGNUPS_PER_DAY,
    inflightBytesMax: values.CAIRN_INFLIGHT_BYTES,
    syncQuotaBytes: values.CAIRN_SYNC_QUOTA_BYTES,
    historyQuotaBytes: values.CAIRN_HISTORY_QUOTA_BYTES,
    mirrorQuotaBytes: values.CAIRN_MIRROR_QUOTA_BYTES,
    documentQuotaBytes: values.CAIRN_DOCUMENT_QUOTA_BYTES,
    connectionsMax: values.CAIRN_CONNECTIONS,
    streamsMax: values.CAIRN_STREAMS,
    loopDelayMsMax: values.CAIRN_LOOP_DELAY_MS,
    bodySeconds: values.CAIRN_BODY_SECONDS,
    handlerSeconds: values.CAIRN_HANDLER_SECONDS,
    drainSeconds: values.CAIRN_DRAIN_SECONDS,
    handoffDays: values.CAIRN_HANDOFF_DAYS,
    timeZone: values.CAIRN_TIMEZONE,
    stallSeconds: values.CAIRN_STALL_SECONDS,
    poolThreads: values.CAIRN_POOL_THREADS,
    oauthMetadata: values.CAIRN_OAUTH_METADATA === 'on',
    passwordBytesMin:
      values.CAIRN_PASSWORD_MIN ?? (isLocalOnly(values) ? limits.passwordBytesMin : limits.passwordBytesMinReached),
    breachedPasswords: values.CAIRN_BREACHED_PASSWORDS,
    requireSecondFactor: values.CAIRN_REQUIRE_SECOND_FACTOR,
    ...reachOf(values),
    identityProvider: identityProvider(values.CAIRN_IDP_ISSUER, values.CAIRN_IDP_AUDIENCE),
    mail: mailOf(values.CAIRN_SMTP_URL, values.CAIRN_MAIL_FROM, values.CAIRN_PUBLIC_URL),
    notifyUrl: values.CAIRN_NOTIFY_URL,
    notifyFormat: values.CAIRN_NOTIFY_FORMAT,
    backupHours: values.CAIRN_BACKUP_HOURS,
    metricsPort: values.CAIRN_METRICS_PORT,
    metricsToken: values.CAIRN_METRICS_TOKEN,
  });
}

/** Where requests to addresses that others chose may lead. */
function reachOf(values: z.infer<typeof settings>): Pick<Config, 'oauthClientDocuments' | 'webhooks'> {
  return { oauthClientDocuments: values.CAIRN_OAUTH_CLIENT_DOCUMENTS, webhooks: values.CAIRN_WEBHOOKS };
}

/** What the store of a log is reached with, and the keys that encrypt it: the usual AWS_* variables and two of Cairn's. */
export function storeEnvironment(environment: NodeJS.ProcessEnv = process.env): Readonly<Record<string, string>> {
  const names = /^(AWS_[A-Z0-9_]+|CAIRN_LOG_RECIPIENT|CAIRN_LOG_IDENTITY)$/;
  const found = Object.entries(environment).filter(([name]) => names.test(name));
  return Object.fromEntries(found.map(([name, value = '']) => [name, value]));
}

/** The environment for another hub that this one starts: the user's, without settings of Cairn. */
export function environmentWithoutSettings(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('CAIRN_')));
}

/** Returns the system's user of this process, and who became that user with sudo, for the hub's log. */
export function systemUser(environment: NodeJS.ProcessEnv = process.env): string {
  const { SUDO_USER: sudo } = environment;
  let name: string;
  try {
    name = userInfo().username;
  } catch {
    // The user id has no entry, as in some containers.
    name = `user ${process.getuid?.() ?? '?'}`;
  }
  return sudo === undefined || sudo === name ? name : `${name} (sudo by ${sudo})`;
}

export interface ServiceManagerSettings {
  /** systemd ends a service that is silent for this many milliseconds. Undefined: it does not watch. */
  readonly watchdogMs: number | undefined;
}

/** Returns how systemd watches this process; undefined: it does not. See sd_notify(3) and sd_watchdog_enabled(3). */
export function readServiceManager(environment: NodeJS.ProcessEnv = process.env): ServiceManagerSettings | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: microseconds, WATCHDOG_PID: pid } = environment;
  if (socket === undefined) return undefined;
  const isWatched = Number(microseconds) > 0 && (pid === undefined || Number(pid) === process.pid);
  return { watchdogMs: isWatched ? Number(microseconds) / 1000 : undefined };
}

function shown(given: Readonly<Record<string, string | undefined>>): Config['given'] {
  const isShown = (name: string) => name in settings.shape && !SECRET_SETTINGS.has(name);
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value = '']) => (isShown(name) ? [[name, value]] : [])),
  );
}

function warningOf(name: string): string[] {
  const reason = REMOVED_SETTINGS[name];
  return reason === undefined ? [] : [`${name} no longer has an effect: ${reason}; delete it from the settings.`];
}

/** Throws StartError for a variable that is no setting, because a misspelled one would change nothing unnoticed. */
function isIgnored(name: string, ignore: ((name: string) => void) | undefined): boolean {
  const known = [...Object.keys(settings.shape), ...clientSettingNames];
  if (known.includes(name)) return false;
  const guess = nearest(name, known);
  if (guess !== undefined) throw new StartError(`${name} is not a setting; did you mean ${guess}.`);
  if (ignore === undefined) throw new StartError(`${name} is not a setting.`);
  ignore(name);
  return true;
}

/** A member makes no key: what the others sealed must open here. */
function logOf(values: z.infer<typeof settings>): LogSettings | undefined {
  const { CAIRN_LOG: url, CAIRN_MASTER_KEY: key } = values;
  if (url === undefined) return undefined;
  if (key === undefined) {
    throw new StartError(
      'CAIRN_MASTER_KEY must be set together with CAIRN_LOG: the same 64 hex characters for all members.',
    );
  }
  const member = values.CAIRN_MEMBER ?? hostname();
  return {
    url,
    ack: values.CAIRN_LOG_ACK,
    member,
    priority: values.CAIRN_MEMBER_PRIORITY,
    leaseSeconds: values.CAIRN_LEASE_SECONDS,
    keepDays: values.CAIRN_LOG_KEEP_DAYS,
  };
}

/** True when no setting implies that anyone but the users of this machine reaches the service. */
function isLocalOnly(values: z.infer<typeof settings>): boolean {
  const { CAIRN_HOST: host, CAIRN_PUBLIC_URL: publicUrl, CAIRN_TRUSTED_PROXIES: proxies } = values;
  return isLoopback(host) && publicUrl === undefined && proxies.length === 0;
}

function identityProvider(issuer: string | undefined, audience: string | undefined): Config['identityProvider'] {
  if (issuer !== undefined && audience !== undefined) return { issuer, audience };
  if (issuer !== undefined) {
    throw new StartError(
      'CAIRN_IDP_AUDIENCE must be set together with CAIRN_IDP_ISSUER: the audience of accepted tokens.',
    );
  }
  if (audience !== undefined) throw new StartError('CAIRN_IDP_ISSUER must be set together with CAIRN_IDP_AUDIENCE.');
  return undefined;
}

function tlsFiles(certFile: string | undefined, keyFile: string | undefined): Config['tls'] {
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile !== undefined) throw new StartError('CAIRN_TLS_KEY must be set together with CAIRN_TLS_CERT.');
  if (keyFile !== undefined) throw new StartError('CAIRN_TLS_CERT must be set together with CAIRN_TLS_KEY.');
  return undefined;
}

/**
 * Returns the SMTP server and the sender of all mail, or undefined when mail is not configured. Links in mail use the
 * public address: a forged `Host` header must not choose where they lead.
 */
function mailOf(url: string | undefined, from: string | undefined, publicUrl: string | undefined): Config['mail'] {
  if (url === undefined) {
    if (from !== undefined) throw new StartError('CAIRN_SMTP_URL must be set together with CAIRN_MAIL_FROM.');
    return undefined;
  }
  if (publicUrl === undefined) {
    throw new StartError('CAIRN_PUBLIC_URL must be set together with CAIRN_SMTP_URL: links in mail lead there.');
  }
  return { url, from: from ?? `Cairn <cairn@${new URL(publicUrl).hostname}>` };
}
