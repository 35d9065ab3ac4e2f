/** The only reader of the client's environment: which hub, which key, where sign-ins are kept. It knows no service. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ClientError } from './client-error.ts';

/** Variables that the client reads; the service lets them stand in its own environment. */
export const clientSettingNames = ['CAIRN_SERVER', 'CAIRN_KEY'] as const;

export interface ClientSettings {
  /** CAIRN_SERVER. */
  readonly server: string | undefined;
  /** CAIRN_KEY: an MCP key or an account key; used instead of a sign-in, as in CI. */
  readonly key: string | undefined;
  /** Where sign-ins are kept (XDG Base Directory Specification: XDG_CONFIG_HOME, else ~/.config). */
  readonly credentialFile: string;
}

/** Reads the settings. Throws ClientError that names a wrong one, never the value of a key. */
export function readClientSettings(environment: NodeJS.ProcessEnv = process.env): ClientSettings {
  const { CAIRN_SERVER: server, CAIRN_KEY: key, XDG_CONFIG_HOME: folder } = environment;
  if (key !== undefined && !/^([0-9a-f]{64}|[a-z2-9]{24})$/.test(key)) {
    throw new ClientError('CAIRN_KEY must be an MCP key (64 hex characters) or an account key (24 characters).');
  }
  // The specification has a relative path ignored.
  const configFolder = folder !== undefined && isAbsolute(folder) ? folder : join(homedir(), '.config');
  return {
    server: server === undefined ? undefined : serverUrl(server, 'CAIRN_SERVER'),
    key,
    credentialFile: join(configFolder, 'cairn', 'credentials.json'),
  };
}

/** The address of a hub in the form that sign-ins are kept under: no slash at the end. Throws ClientError. */
export function serverUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ClientError(`${name} must be the http or https address of a hub, like https://cairn.example.org.`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}
