/**
 * Reads the environment variables of the client: hub, key, path of the stored sign-ins. No other client module reads
 * the environment, and this one depends on no service.
 */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ClientError } from './client-error.ts';
import { type HttpProxy, proxyFor } from './proxy.ts';

/** Environment variables of the client. The service does not reject them as unknown settings. */
export const clientSettingNames = [
  'CAIRN_SERVER',
  'CAIRN_KEY',
  'CAIRN_MIRROR_TOKEN',
  'CAIRN_MIRROR_SECRET',
  'CAIRN_RECIPIENTS',
] as const;

export interface ClientSettings {
  /** The hub, from CAIRN_SERVER. */
  readonly server: string | undefined;
  /** CAIRN_KEY: an MCP key or account key, used instead of a sign-in, as in CI. */
  readonly key: string | undefined;
  /** Path of the stored sign-ins (XDG Base Directory Specification: XDG_CONFIG_HOME, else ~/.config). */
  readonly credentialFile: string;
  /** CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET: the mirror credential, used instead of the one stored by init. */
  readonly mirrorToken: string | undefined;
  readonly mirrorSecret: string | undefined;
  /** CAIRN_RECIPIENTS: for whom a job encrypts that stores nothing, separated by commas. */
  readonly recipients: string | undefined;
  /** Paths of the mirror credentials, and of the age identity created with the first one. */
  readonly mirrorFile: string;
  readonly identityFile: string;
  /** Path of the list of folders for `cairn sync watch --all`. */
  readonly syncFile: string;
  /** XDG_CONFIG_HOME, else ~/.config: where other programs of the user have their settings. */
  readonly configFolder: string;
  /** What a service of the user has to be given to find the same sign-ins. */
  readonly serviceEnvironment: Readonly<Record<string, string>>;
  /** Folder of what can be had again at any time. */
  readonly cacheFolder: string;
}

type ClientSettingName = (typeof clientSettingNames)[number];

/** The value of a setting. An empty variable is one that is not set: a CI job has it where a secret is missing. */
const given = (environment: NodeJS.ProcessEnv, name: ClientSettingName) => environment[name] || undefined;

/** Reads the settings. Throws ClientError that names an invalid setting, never the value of a key. */
export function readClientSettings(environment: NodeJS.ProcessEnv = process.env): ClientSettings {
  const [server, key] = [given(environment, 'CAIRN_SERVER'), given(environment, 'CAIRN_KEY')];
  const { XDG_CONFIG_HOME: folder } = environment;
  if (key !== undefined && !/^([0-9a-f]{64}|[a-z2-9]{24})$/.test(key)) {
    throw new ClientError('CAIRN_KEY must be an MCP key (64 hex characters) or an account key (24 characters).');
  }
  // The specification requires relative paths to be ignored.
  const isChosen = folder !== undefined && isAbsolute(folder);
  const userFolder = isChosen ? folder : join(homedir(), '.config');
  const configFolder = join(userFolder, 'cairn');
  return {
    server: server === undefined ? undefined : serverUrl(server, 'CAIRN_SERVER'),
    key,
    credentialFile: join(configFolder, 'credentials.json'),
    mirrorToken: hex64(environment, 'CAIRN_MIRROR_TOKEN'),
    mirrorSecret: hex64(environment, 'CAIRN_MIRROR_SECRET'),
    recipients: given(environment, 'CAIRN_RECIPIENTS'),
    mirrorFile: join(configFolder, 'mirror.json'),
    identityFile: join(configFolder, 'identity.txt'),
    syncFile: join(configFolder, 'sync.json'),
    configFolder: userFolder,
    serviceEnvironment: isChosen ? { XDG_CONFIG_HOME: folder } : {},
    cacheFolder: cacheFolder(environment),
  };
}

/** The proxy that leads to a hub. Throws ClientError that names an invalid variable. */
export function proxyOf(server: string, environment: NodeJS.ProcessEnv = process.env): HttpProxy | undefined {
  return proxyFor(server, environment);
}

/** True when the user wants no colours, or the terminal has none (https://no-color.org). */
export function refusesColour({ NO_COLOR: refused = '', TERM: kind }: NodeJS.ProcessEnv = process.env): boolean {
  return refused !== '' || kind === 'dumb';
}

/** Folder of compiled modules. systemd names one to a service, which may write nowhere else (CACHE_DIRECTORY). */
export function compileCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment['CACHE_DIRECTORY'] || cacheFolder(environment), 'compiled');
}

/** XDG Base Directory Specification: XDG_CACHE_HOME, else ~/.cache. */
function cacheFolder({ XDG_CACHE_HOME: folder }: NodeJS.ProcessEnv): string {
  return join(folder !== undefined && isAbsolute(folder) ? folder : join(homedir(), '.cache'), 'cairn');
}

function hex64(environment: NodeJS.ProcessEnv, name: ClientSettingName): string | undefined {
  const value = given(environment, name);
  if (value !== undefined && !/^[0-9a-f]{64}$/.test(value)) {
    throw new ClientError(`${name} must be the 64 hex characters that the mirror credential was issued with.`);
  }
  return value;
}

/** Normalizes the address of a hub to the key of its sign-in: no slash at the end. Throws ClientError. */
export function serverUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ClientError(`${name} must be the http or https address of a hub, like https://cairn.example.org.`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** The environment for a program that this one starts: the user's, with further variables. */
export function environmentWith(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...own };
}
