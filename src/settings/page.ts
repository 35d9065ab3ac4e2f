/**
 * Describes each setting, in the order of the manual. `src/manual/settings.md` and `cairn help NAME` are generated from
 * it.
 */
import { type SettingName, settings } from './schema.ts';

interface Row {
  /** Default shown in the manual when it is not a plain value. */
  readonly default?: string;
  readonly meaning: string;
}

type Group = Readonly<Partial<Record<SettingName, Row>>>;

const ADDRESS: Group = {
  CAIRN_HOST: { meaning: 'the address to listen on; `0.0.0.0` or `::` listens on all' },
  CAIRN_PORT: { meaning: 'the port to listen on; 0 selects a free one and logs it' },
  CAIRN_PUBLIC_URL: {
    default: 'the address of each request',
    meaning:
      'the address that people use, for example `https://hub.example.org`. Links, the setup guide and `openapi.json` use it. With https, cookies are sent over TLS only',
  },
  CAIRN_TLS_CERT: { meaning: 'a PEM file with the certificate; together with `CAIRN_TLS_KEY` the hub speaks HTTPS' },
  CAIRN_TLS_KEY: { meaning: 'a PEM file with the private key' },
  CAIRN_TRUSTED_PROXIES: { meaning: 'addresses or ranges of proxies whose `X-Forwarded-For` is used, comma-separated' },
  CAIRN_ALLOWED_ORIGINS: { meaning: 'origins of web pages that may call the hub (CORS), comma-separated' },
  CAIRN_BLOCKED_AGENTS: {
    default: 'command-line tools and HTTP libraries',
    meaning: 'prefixes of User-Agent that are answered 403, comma-separated',
  },
  CAIRN_ALLOW_MISSING_AGENT: { meaning: '`true` accepts requests without a User-Agent' },
};

const DATA: Group = {
  CAIRN_DATA: { meaning: 'the data folder. One process uses it at a time' },
  CAIRN_MASTER_KEY: {
    default: 'created once, in `master.key`',
    meaning: '64 hex characters; this key seals the secrets in the data file',
  },
  CAIRN_MAP_BYTES: {
    meaning: 'the largest size of the data file: address space that is reserved, not memory',
  },
  CAIRN_LOG: {
    meaning:
      'the log that the members of this hub share: `s3://BUCKET/PREFIX`, `postgres://…` or `file:///FOLDER`. Every answered write is in it. `CAIRN_MASTER_KEY` must be set too, the same for all members',
  },
  CAIRN_LOG_ACK: {
    meaning:
      '`local`: a write is answered before the log has it: by about a second while the log answers, by the lease at most. The loss of a machine may lose it. See [Two machines and a bucket](members.md)',
  },
  CAIRN_LOG_RECIPIENT: {
    meaning: 'an age recipient: everything in the log is encrypted to it. `CAIRN_LOG_IDENTITY` must be set too',
  },
  CAIRN_LOG_IDENTITY: { meaning: 'the age identity of that recipient: what the members read the log with' },
  CAIRN_MEMBER: { default: 'the name of the machine', meaning: 'the name of this member' },
  CAIRN_MEMBER_PRIORITY: {
    meaning: 'seconds that this member waits longer than others before it takes over; the lowest number is the first',
  },
  CAIRN_LEASE_SECONDS: {
    meaning:
      'how long the owner may answer without having heard from the log; another member takes over after 1.2 times that',
  },
  CAIRN_LOG_KEEP_DAYS: {
    meaning:
      'the log keeps what `cairn restore` needs for each second of this many days; older records and snapshots are removed',
  },
  CAIRN_UPGRADE_BACKUP: { meaning: '`off` upgrades an older data file without making a backup first' },
  CAIRN_MIRROR_QUOTA_BYTES: { meaning: 'bytes of mirror archives of one account' },
  CAIRN_SYNC_QUOTA_BYTES: { meaning: 'bytes of current files and pending conflicts of one account' },
  CAIRN_HISTORY_QUOTA_BYTES: {
    meaning: 'bytes of earlier versions of files of one account, and 1 KiB for each version',
  },
  CAIRN_DOCUMENT_QUOTA_BYTES: { meaning: 'bytes of documents and tasks of one account' },
  CAIRN_HANDOFF_DAYS: {
    default: 'none: kept forever',
    meaning: 'listing handoffs permanently deletes those older than this many days',
  },
  CAIRN_TIMEZONE: { meaning: 'the time zone of accounts that have not set one (IANA name)' },
};

const ENTRY: Group = {
  CAIRN_SIGNUP: {
    default: '`open` on loopback without a public address or a proxy, else `invite`',
    meaning:
      'who can create an account: `open`, `invite`, `closed`, or email domains. Domains are a filter, not a proof: addresses are not verified',
  },
  CAIRN_SIGNUPS_PER_DAY: { meaning: 'new accounts a day without an invitation, over all callers; 0: unlimited' },
  CAIRN_SIGNIN_LIMIT: {
    meaning: 'sign-ins, device requests and rejected credentials a minute, per address; 0: unlimited',
  },
  CAIRN_PASSWORD_MIN: {
    default: '6 on a hub that only its own machine reaches, otherwise 8',
    meaning: 'minimum length of a new password, in bytes',
  },
  CAIRN_BREACHED_PASSWORDS: {
    default: 'none',
    meaning:
      'a file of breached passwords, which are refused: sorted SHA-1 hashes, as the downloader of haveibeenpwned.com writes them',
  },
  CAIRN_REQUIRE_SECOND_FACTOR: {
    meaning: 'who needs two-factor sign-in: `off` (nobody), `operators` or `everybody`',
  },
  CAIRN_OAUTH_METADATA: {
    meaning: 'whether MCP clients find the browser sign-in at `/mcp`: `on` or `off`; keys work either way',
  },
  CAIRN_OAUTH_CLIENT_DOCUMENTS: {
    meaning:
      'from where client ID metadata documents are fetched: `public` addresses, `private` ones as well, or `off`. With `off`, for a hub without internet access, Claude Code and Codex register instead',
  },
  CAIRN_WEBHOOKS: {
    meaning:
      'where the webhooks of accounts may lead: to `public` addresses over https, to `private` ones and over http as well, or `off`',
  },
  CAIRN_IDP_ISSUER: { meaning: 'the issuer of the identity provider whose tokens are accepted' },
  CAIRN_IDP_AUDIENCE: { meaning: 'the audience that these tokens must have' },
  CAIRN_SMTP_URL: { meaning: 'the mail server, for example `smtps://user:password@mail.example.org`' },
  CAIRN_MAIL_FROM: {
    default: '`Cairn <cairn@HOST>` with the host of `CAIRN_PUBLIC_URL`',
    meaning: 'the sender of mail',
  },
};

const LIMITS: Group = {
  CAIRN_RATE_LIMIT: {
    meaning: 'calls a minute per key, or per address without a key; a third of them at once; 0: unlimited',
  },
  CAIRN_ACCOUNT_RATE_LIMIT: {
    default: 'three times `CAIRN_RATE_LIMIT`',
    meaning:
      'calls per minute and account, across its keys, tokens and sessions; at most a third of them at once; 0: unlimited',
  },
  CAIRN_CONNECTIONS: { meaning: 'open connections; above it 503' },
  CAIRN_STREAMS: { meaning: 'answers sent piece by piece (downloads, long lists); above it 503' },
  CAIRN_INFLIGHT_BYTES: {
    meaning:
      'memory for the bodies of mirror uploads, and the same again for all other request bodies; a caller above its share gets 503',
  },
  CAIRN_BODY_SECONDS: { meaning: 'how long a request body may take, plus one second for each 16 KiB received' },
  CAIRN_HANDLER_SECONDS: { meaning: 'how long an answer may take' },
  CAIRN_STALL_SECONDS: {
    meaning: 'how long a client may receive nothing of an answer; on average it must receive 16 KiB/s',
  },
  CAIRN_DRAIN_SECONDS: { meaning: 'how long a stop waits for running requests' },
  CAIRN_LOOP_DELAY_MS: {
    meaning: 'new work is answered 503 while the event loop is later than this (median of half a second); 0: off',
  },
  CAIRN_POOL_THREADS: { default: 'cores − 1', meaning: 'threads that hash' },
};

const LOG: Group = {
  CAIRN_LOG_LEVEL: { meaning: '`debug`, `info`, `warn`, `error`, `fatal` or `silent`' },
  CAIRN_LOG_FORMAT: {
    default: '`text` on a terminal, else `json`',
    meaning: '`json`: one JSON object per line; `text`: one readable line per event',
  },
  CAIRN_ACCESS_LOG: {
    default: 'none: request lines go to the log',
    meaning: 'file for request log lines; SIGHUP reopens it',
  },
  CAIRN_SLOW_MS: { meaning: 'requests of at least this many milliseconds are logged as warnings; 0: off' },
  CAIRN_NOTIFY_URL: {
    meaning: 'gets a POST for each change of what `/ready` lists, for example `https://ntfy.sh/TOPIC`. It is a secret',
  },
  CAIRN_NOTIFY_FORMAT: {
    default: 'by the host: `slack` for hooks.slack.com, `healthchecks` for hc-ping.com, else `text`',
    meaning:
      'the form of these: `text` (plain text, title in a header, as ntfy takes it), `slack` (JSON with `text`), `healthchecks` (`/fail` is added while something is wrong)',
  },
  CAIRN_BACKUP_HOURS: {
    default: '48, once there was a backup',
    meaning:
      'how old the newest backup may be before the hub reports it as late; set it to be told of a missing first one too',
  },
  CAIRN_METRICS_PORT: { meaning: 'serves `/metrics` on a separate port, to this machine only' },
  CAIRN_METRICS_TOKEN: { meaning: 'serves `/metrics` on the main port to `Authorization: Bearer <token>`' },
};

const GROUPS: readonly (readonly [title: string, rows: Group])[] = [
  ['Address and network', ADDRESS],
  ['Data and quotas', DATA],
  ['Accounts and sign-in', ENTRY],
  ['Limits and deadlines', LIMITS],
  ['Log and metrics', LOG],
];

export const settingNames = Object.keys(settings.shape) as SettingName[];

/** Returns one line for a terminal, or undefined when there is no such setting. */
export function settingLine(name: string): string | undefined {
  const row = rowOf(name);
  return row === undefined
    ? undefined
    : `${name} (default: ${defaultOf(name as SettingName, row)}): ${row.meaning}.`.replaceAll('`', '');
}

/** Returns the generated sections of `src/manual/settings.md`. */
export function settingsTables(): string {
  return GROUPS.map(([title, rows]) => {
    const lines = Object.entries(rows).map(
      ([name, row]) => `| \`${name}\` | ${defaultOf(name as SettingName, row)} | ${row.meaning} |`,
    );
    return [`## ${title}`, '', '| Name | Default | Meaning |', '|---|---|---|', ...lines].join('\n');
  }).join('\n\n');
}

function rowOf(name: string): Row | undefined {
  for (const [, rows] of GROUPS) if (Object.hasOwn(rows, name)) return rows[name as SettingName];
  return undefined;
}

function defaultOf(name: SettingName, row: Row): string {
  if (row.default !== undefined) return row.default;
  const { data } = settings.shape[name].safeParse(undefined);
  const text = String(data ?? '');
  return text === '' ? 'none' : `\`${text}\``;
}
